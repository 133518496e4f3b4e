"""Common SQL expressions: the compiler accepts them, and Spark reads what we print as what was written."""

from __future__ import annotations

import pytest

from sparkivm.engine import EngineError
from sparkivm.errors import ModelError, NotIncremental
from sparkivm.frontend.accepted_expressions import check_accepted
from sparkivm.frontend.parse import parse_model
from sparkivm.refresh.model.gate import check_text_is_understood
from tests.spark.lab import Lab

pytestmark = pytest.mark.spark

EXPRESSIONS = r"""
transform(array(qty, 1), x -> x + qty)
filter(array(qty, 1), (x, i) -> x > i)
exists(array(qty), x -> x is null)
forall(array(qty), x -> x > 0)
aggregate(array(qty, 1), 0, (acc, x) -> acc + x, acc -> acc * 2)
reduce(array(qty, 1), 0, (acc, x) -> acc + x)
zip_with(array(qty), array(1), (x, y) -> x + y)
map_filter(map('a', qty), (k, v) -> v > 1)
transform_values(map('a', qty), (k, v) -> v + 1)
array_sort(array(qty, 1), (l, r) -> case when l < r then 1 when l > r then -1 else 0 end)
transform(array(named_struct('f', qty)), x -> x.f)
nvl(note,'-')
ifnull(note,'-')
instr(note,'b')
locate('b',note)
position('b' in note)
log10(qty)
log2(qty)
log(2,qty)
log(qty)
pow(qty,2)
power(qty,2)
substr(note,1,1)
substring(note,1,1)
substring(note from 1 for 1)
date_sub(at,1)
date_add(at,1)
dateadd(at,1)
dateadd(day,1,at)
date_diff(at,at)
datediff(at,at)
ceiling(amount)
ceil(amount)
floor(amount)
signum(qty)
sign(qty)
sha1(note)
sha(note)
sha2(note,256)
md5(note)
named_struct('a',qty)
struct(qty,1)
struct(qty as a)
array_size(array(1))
mod(qty,2)
qty % 2
char(65)
chr(65)
regexp_like(note,'a')
note regexp 'a'
to_timestamp(note)
to_date(note)
to_char(qty,'999')
char_length(note)
character_length(note)
length(note)
x'1F'
qty::bigint
cast(qty as string)
try_cast(note as int)
qty div 2
div(qty,2)
qty is not true
note is distinct from 'a'
qty <=> 1
not qty between 1 and 2
1.5bd
1L
1e3
interval 1 day
interval '1' day
at + interval 2 months
'a''b'
"a"
extract(year from at)
year(at)
quarter(at)
weekofyear(at)
dayofweek(at)
trunc(at,'MM')
last_day(at)
hour(at)
trim(note)
trim(both 'a' from note)
rtrim(note)
ltrim('a',note)
rtrim('a',note)
overlay(note placing 'z' from 1)
translate(note,'a','b')
replace(note,'a','b')
concat(note,'x')
note || 'x'
concat_ws('-',note,'x')
upper(note)
initcap(note)
reverse(note)
left(note,1)
right(note,1)
repeat(note,2)
space(2)
round(amount)
round(amount,-1)
bround(amount,1)
sqrt(qty)
abs(qty)
-qty
~qty
qty & 1
qty ^ 1
greatest(qty,1)
least(qty,1)
coalesce(note,'a')
nullif(note,'a')
nvl2(note,1,2)
if(qty>1,1,2)
case qty when 1 then 'a' else 'b' end
decode(qty,1,'a','b')
isnull(note)
isnotnull(note)
note in ('a','b')
note like 'a%'
note ilike 'A%'
note like '%a!%' escape '!'
note rlike '^a'
hash(qty)
xxhash64(qty)
crc32(note)
hex(qty)
unhex('1F')
bin(qty)
months_between(at,at)
add_months(at,1)
unix_date(at)
make_date(2024,1,1)
from_utc_timestamp(at,'UTC')
date_format(at,'E')
timestampdiff(day,at,at)
dayname(at)
typeof(qty)
size(array(1,2))
array(1,qty)[0]
array_contains(array(1),qty)
sort_array(array(2,1))
array_sort(array(2,1))
sequence(1,3)
to_json(struct(qty))
equal_null(qty,1)
try_divide(qty,2)
try_add(qty,1)
zeroifnull(qty)
elt(1,note)
ascii(note)
soundex(note)
levenshtein(note,'a')
format_number(amount,1)
printf('%s',note)
from_unixtime(qty)
unix_timestamp(note)
datepart('year',at)
try_mod(qty,0)
try_to_number(note,'999')
try_url_decode(note)
regexp(note,'a')
xpath_int('<a><b>1</b></a>','a/b')
variant_get(parse_json('{"a": 1}'),'$.a','int')
try_variant_get(try_parse_json(note),'$.a','string')
make_timestamp_ntz(2024,1,1,1,1,1)
to_timestamp_ntz(note)
bitmap_bit_position(qty)
schema_of_json('{"a": 1}')
make_valid_utf8(note)
chr(qty)
decode(qty,1,'a',2,'b','c')
decode(encode(note,'utf-8'),'utf-8')
""".strip().splitlines()


def test_expressions_are_read_back_faithfully(spark_without_ansi):
    """With ANSI on, some of them are errors, such as a number in place of a boolean."""
    lab = Lab(spark_without_ansi, "expressions")
    lab.table("orders", "id int, amount decimal(10,2), qty int, note string, at date")
    wrong = []
    for text in EXPRESSIONS:
        sql = f"select {text} as c from orders"
        try:
            tree = parse_model("model", sql)
            check_accepted(tree.selects[0])
            check_text_is_understood(lab.engine, sql, tree)
        except (NotIncremental, ModelError, EngineError) as error:
            wrong.append((text, str(error)))
    lab.run("drop schema expressions cascade")
    assert not wrong

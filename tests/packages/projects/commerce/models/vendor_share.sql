select vendor, sum(net) as net, sum(net) / sum(sum(net)) over () as share from {{ ref('valued_lines') }} group by vendor

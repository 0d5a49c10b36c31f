create table world (
    id     bigint primary key,
    number bigint not null,
    name   text not null
);
insert into world (id, number, name)
select n, 1 + (n * 7919) % 100000, 'row ' || n
from generate_series(1, 100000) n;
analyze world;

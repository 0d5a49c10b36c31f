create table if not exists users (
    name     text primary key,
    email    text not null,
    password bytea not null
);
create table if not exists secrets (
    owner text not null references users (name) on delete cascade,
    name  text not null,
    value text not null,
    primary key (owner, name)
);

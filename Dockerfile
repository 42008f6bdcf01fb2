# PostgreSQL with relgrad in every new database:
#   docker build -t relgrad . && docker run --rm -e POSTGRES_PASSWORD=secret -p 5432:5432 relgrad
ARG POSTGRES=17
FROM golang:1.25-bookworm AS go

FROM postgres:${POSTGRES}-bookworm AS build
COPY --from=go /usr/local/go /usr/local/go
ENV PATH=/usr/local/go/bin:$PATH
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates gcc libc6-dev make postgresql-server-dev-${PG_MAJOR}
COPY . /src
RUN mkdir /build && make -s -C /build -f /src/pgbridge/extension/Makefile all \
 && cd /src && go build -trimpath -buildvcs=false -ldflags='-s -w' -o /build/relgrad-engine ./cmd/relgrad \
 && make -s -C /build -f /src/pgbridge/extension/Makefile DESTDIR=/out install

FROM postgres:${POSTGRES}-bookworm
RUN apt-get update && apt-get install -y --no-install-recommends libopenblas0-pthread && rm -rf /var/lib/apt/lists/*
COPY --from=build /out /
RUN ln -s "$(pg_config --pkglibdir)/relgrad-engine" /usr/local/bin/relgrad \
 && printf '%s\n' 'CREATE EXTENSION relgrad;' '\connect template1' 'CREATE EXTENSION relgrad;' \
    >/docker-entrypoint-initdb.d/relgrad.sql

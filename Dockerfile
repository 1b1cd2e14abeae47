# Two stages: everything needed to build, then only what runs. Build it with `docker build -t tarry .`
FROM debian:bookworm AS build
SHELL ["/bin/bash", "-o", "pipefail", "-c"]
WORKDIR /source
# The package list has one home, scripts/lib/deps.sh: the image and scripts/demo cannot drift apart.
COPY scripts/lib/deps.sh scripts/lib/
RUN . scripts/lib/deps.sh && deps_install build && rm -rf /var/lib/apt/lists/*
COPY . .
RUN cmake --preset release -DTARRY_TESTS=OFF -DTARRY_BENCH=OFF && cmake --build --preset release --target tarry && \
    strip --strip-debug build/release/tarry

FROM debian:bookworm-slim
# hadolint ignore=DL3008
RUN apt-get update && apt-get install -y --no-install-recommends \
        ca-certificates libcjson1 libcurl4 liblmdb0 libmicrohttpd12 libnats3.4 librdkafka1 libxxhash0 libyaml-0-2 tzdata zlib1g && \
    rm -rf /var/lib/apt/lists/* && \
    install -d -m 0700 -o 65532 -g 65532 /var/lib/tarry && install -d -m 0755 /etc/tarry
COPY --from=build /source/build/release/tarry /usr/local/bin/tarry
COPY LICENSE /usr/share/doc/tarry/copyright
USER 65532:65532
VOLUME ["/var/lib/tarry"]
STOPSIGNAL SIGTERM
# Alive, not ready: a container is not restarted because a broker is away. bash opens the connection itself, so no client is in the image.
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s --retries=3 \
    CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/7411 && printf 'GET /livez HTTP/1.0\\r\\n\\r\\n' >&3 && head -n 1 <&3 | grep -q ' 200 '"]
ENTRYPOINT ["/usr/local/bin/tarry"]
CMD ["serve", "-c", "/etc/tarry/tarry.yaml"]

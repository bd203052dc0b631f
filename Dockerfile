# HydraMem over HTTP, for other containers and machines: docs/how-to/docker.md says how to run it.
# The memory is the volume /data; requests carry the token of $HYDRAMEM_TOKEN, or one of `hydramem token`; without any the
# server does not start.

FROM python:3.13-slim AS build
WORKDIR /source
COPY . .
RUN python -m venv /build && /build/bin/pip install --no-cache-dir hatchling==1.33.0 \
 && /build/bin/python -m hatchling build -t wheel -d /wheels
RUN python -m venv /opt/hydramem \
 && /opt/hydramem/bin/pip install --no-cache-dir --require-hashes -r requirements.txt -r requirements-postgres.txt \
 && /opt/hydramem/bin/pip install --no-cache-dir --no-deps /wheels/*.whl \
 && /opt/hydramem/bin/pip uninstall --yes pip

FROM python:3.13-slim
COPY --from=build /opt/hydramem /opt/hydramem
RUN useradd --uid 10001 --home-dir /data --no-create-home --shell /usr/sbin/nologin hydramem \
 && install --directory --owner hydramem --group hydramem --mode 700 /data
ENV PATH=/opt/hydramem/bin:$PATH \
    HOME=/data \
    HYDRAMEM_HOME=/data \
    HYDRAMEM_MODELS=/data/models \
    PYTHONDONTWRITEBYTECODE=1
WORKDIR /data
VOLUME /data
USER hydramem
EXPOSE 8765
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s CMD ["python", "-c", "import http.client; server = http.client.HTTPConnection('127.0.0.1', 8765, timeout=4); server.request('GET', '/readyz'); raise SystemExit(server.getresponse().status != 200)"]
ENTRYPOINT ["hydramem"]
CMD ["serve", "--transport", "http", "--host", "0.0.0.0"]

# Two stages: install, then a small image with the source and the installed packages. Knowledge base and data are mounts.
FROM python:3.11-slim AS install
WORKDIR /opt/pv-agent
COPY requirements.txt constraints.txt ./
RUN python -m venv .venv && .venv/bin/pip install --no-cache-dir -r requirements.txt

FROM python:3.11-slim
ARG UID=10001
ARG GID=10001
RUN groupadd --gid "$GID" pv && useradd --uid "$UID" --gid "$GID" --no-create-home --shell /usr/sbin/nologin pv
WORKDIR /opt/pv-agent
COPY --from=install /opt/pv-agent/.venv .venv
COPY app app
COPY evaluation evaluation
COPY pipelines pipelines
COPY custom_postprocessors custom_postprocessors
COPY docker/entrypoint.sh docker/entrypoint.sh
RUN python -m compileall -q app evaluation pipelines custom_postprocessors
ENV PATH=/opt/pv-agent/.venv/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 HOME=/tmp \
    PV_KB_DIR=/kb PV_DATA_DIR=/data PV_HOST=0.0.0.0 PV_PORT=7860
RUN mkdir /kb /data && chown "$UID:$GID" /data
USER pv
VOLUME ["/kb", "/data"]
EXPOSE 7860
HEALTHCHECK --interval=15s --timeout=5s --start-period=180s \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:7860/v1/health', timeout=4)"]
ENTRYPOINT ["docker/entrypoint.sh"]

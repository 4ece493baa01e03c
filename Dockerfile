# The container image of Lodestone: the compiled gateway, its dashboard and its docs on Node 24 LTS. It runs as a user without rights on a
# root file system that may be read-only; only /lodestone/data is written. docs/guide/deploy.md says how to use it.

# Pinned by tag. A pipeline that wants the very same base each time passes a digest: --build-arg NODE_IMAGE=node:24-bookworm-slim@sha256:…
ARG NODE_IMAGE=node:24-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
COPY dashboard/package.json dashboard/
# No package needs its install script, so none is run.
RUN npm ci --include=dev --ignore-scripts --no-audit --no-fund
COPY . .
RUN npm run build
# What `npm ci --omit=dev` leaves has a test runner in it; this leaves what the gateway reaches, which is what the SBOM lists.
RUN node scripts/sbom.mjs sbom.cdx.json && node scripts/prune-modules.mjs
# The embedded PostgreSQL links its libraries at the first start, which a read-only image would not let it do.
RUN node -e "import('/app/dist/storage/embedded/embedded-binaries.js').then((module) => module.locateBinaries({}))"

FROM ${NODE_IMAGE} AS image
ARG VERSION=1.0.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Lodestone" \
      org.opencontainers.image.description="An inference gateway that decides, honestly and provably, which provider in which region serves a request." \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"

# Nothing is installed at run time: no package manager, no tool to fetch one. The data folder belongs to the user `node` of the base image.
RUN rm -rf /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /opt/yarn* /usr/local/bin/yarn* \
    && mkdir -p /lodestone/data \
    && chown 1000:1000 /lodestone/data \
    && chmod 700 /lodestone/data \
    && ln -s /app/bin/lodestone /usr/local/bin/lodestone

# Owned by root, so that the gateway cannot change its own program.
COPY --from=build /app/package.json /app/LICENSE /app/sbom.cdx.json /app/
COPY --from=build /app/bin /app/bin
COPY --from=build /app/catalogue /app/catalogue
COPY --from=build /app/node_modules /app/node_modules
COPY --from=build /app/dist /app/dist
COPY --from=build /app/dashboard/dist /app/dashboard/dist

# ./lodestone.yaml is read if it is mounted here, and data_dir is ./data.
WORKDIR /lodestone
VOLUME /lodestone/data

# HOST and PORT win over the configuration file, so that the port and the health check below stay true.
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8787
EXPOSE 8787
USER 1000:1000
STOPSIGNAL SIGTERM

# Alive, not ready: known keys are served while PostgreSQL is away, and a restart would only lose them.
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=4 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]

# Without a shell in between: SIGTERM arrives at the gateway, which drains and settles.
ENTRYPOINT ["node", "/app/bin/lodestone"]
CMD ["serve"]

# The image of carryover: `docker build -t carryover .` (docs/deploy.md says how to build, label and run it).
# Nothing in it is bound to one processor architecture.
ARG NODE_VERSION=24.21.0
# The bases. A release is built from their digests, since a tag moves: scripts/release/image.mjs looks them up, and the labels name the second.
ARG NODE_IMAGE=docker.io/library/node:${NODE_VERSION}-bookworm-slim
ARG NODE_DIGEST=
ARG BASE_IMAGE=gcr.io/distroless/cc-debian12:nonroot
ARG BASE_DIGEST=

# Runs where the build runs, whatever it builds for: what comes out is JavaScript.
FROM --platform=$BUILDPLATFORM ${NODE_IMAGE}${NODE_DIGEST:+@}${NODE_DIGEST} AS build
WORKDIR /src
COPY package.json package-lock.json LICENSE ./
# Without scripts, since `prepare` would build before the sources are there. The workspace `sandbox` has no dependencies.
RUN npm ci --workspaces=false --ignore-scripts --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY scripts/build.mjs scripts/
COPY scripts/build scripts/build
COPY kernel kernel
COPY page page
COPY src src
COPY sandbox/src sandbox/src
RUN node scripts/build.mjs

# `dist` holds everything that the program needs, the packages' licences and a bill of materials included.
WORKDIR /app
RUN cp /src/LICENSE /src/package.json . && cp -R /src/dist . && find dist \( -name '*.d.ts' -o -name '.*' \) -type f -delete \
  && find dist -type d -empty -delete
# Where the volume of the state is mounted: a volume takes over whom an empty folder belongs to.
RUN mkdir -m 0770 /state
# For any user, and with one date, so that equal sources give equal layers.
ARG SOURCE_DATE_EPOCH=0
RUN chmod -R a+rX,go-w . && find . /state -exec touch --no-dereference --date="@${SOURCE_DATE_EPOCH}" {} +

# The program alone, of the platform that is built for; npm and the headers stay behind.
FROM ${NODE_IMAGE}${NODE_DIGEST:+@}${NODE_DIGEST} AS node

# Libraries that node is linked with, certificates, time zones: no shell, no package manager.
FROM ${BASE_IMAGE}${BASE_DIGEST:+@}${BASE_DIGEST}
COPY --from=node /usr/local/bin/node /usr/local/bin/node
COPY --from=build /app /app
COPY --from=build --chown=65532:0 /state /var/lib/carryover
WORKDIR /app
ENV NODE_ENV=production NODE_DISABLE_COMPILE_CACHE=1
# Kubernetes wants a number to know that it is not root. Any other user works as well: nothing is written.
USER 65532:65532
EXPOSE 8080 8081
# Requests in flight are finished on SIGTERM: give it 70 s (`--stop-timeout 70`). There is no HEALTHCHECK: Kubernetes
# has probes, the ports are options, and each check would start a process of 40 MB; the compose file brings its own.
STOPSIGNAL SIGTERM
# One helper thread for collecting memory: V8 starts four, which on few cores take the processor from the thread that answers.
ENTRYPOINT ["node", "--v8-pool-size=1", "/app/dist/main.js"]
CMD ["serve"]

ARG VERSION=0.1.0
ARG REVISION=unknown
ARG CREATED=1970-01-01T00:00:00Z
ARG SOURCE=unknown
ARG BASE_IMAGE
ARG BASE_DIGEST
LABEL org.opencontainers.image.title="carryover" \
  org.opencontainers.image.description="A proxy that keeps v1 API clients working while the platform behind it moves to v2" \
  org.opencontainers.image.licenses="Apache-2.0" \
  org.opencontainers.image.version="${VERSION}" \
  org.opencontainers.image.revision="${REVISION}" \
  org.opencontainers.image.created="${CREATED}" \
  org.opencontainers.image.source="${SOURCE}" \
  org.opencontainers.image.base.name="${BASE_IMAGE}" \
  org.opencontainers.image.base.digest="${BASE_DIGEST}"

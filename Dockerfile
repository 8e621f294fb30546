# The service on one machine: docs/server.md
FROM node:22-bookworm AS build
WORKDIR /build
COPY package.json package-lock.json ./
COPY test/differential/package.json test/differential/
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN npm run prepack
# The store's package, for the image's kind of machine.
WORKDIR /store
RUN cp /build/package.json /build/package-lock.json . \
 && npm ci --workspaces=false --omit=dev --ignore-scripts --no-audit --no-fund
WORKDIR /build
# Only what runs. Node.js without its symbols is 20 MB smaller.
RUN mkdir -p /image/usr/local/bin /image/opt/svc-queue/functions/console \
 && strip -o /image/usr/local/bin/node "$(node -p process.execPath)" \
 && cp -r dist/cli dist/licences.txt LICENSE package.json /store/node_modules /image/opt/svc-queue/ \
 && cp -r dist/functions/console/console /image/opt/svc-queue/functions/console/ \
 && chmod +x /image/opt/svc-queue/cli/svc-queue.js \
 && ln -s ../../../opt/svc-queue/cli/svc-queue.js /image/usr/local/bin/svc-queue \
 && mkdir /volume

FROM debian:bookworm-slim
COPY --from=build /image /
COPY --from=build --chown=65534:65534 /volume /data
USER 65534:65534
VOLUME /data
ENV SVC_DATA_DIR=/data SVC_HOST=0.0.0.0
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.SVC_PORT ?? 8080}/v2/ready`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "--max-semi-space-size=64", "/opt/svc-queue/cli/svc-queue.js"]
CMD ["start"]

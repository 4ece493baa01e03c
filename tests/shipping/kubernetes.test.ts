import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load-config.js';
import { openApiDocument } from '../../src/http/openapi/document.js';
import { metricTable } from '../../src/observability/metrics/metric-table.js';
import { assignments, dockerStages, filesIn, manifest, only, root, type Yaml, yamlOf } from './shipped-files.js';

const folder = 'deploy/kubernetes';
const base = `${folder}/base`;
const kustomization: Yaml = yamlOf(`${base}/kustomization.yaml`)[0];
const objects: Yaml[] = filesIn(folder)
  .filter((file) => !/(kustomization|lodestone|adapter-rule|in-flight-autoscaler\/autoscaler)\.yaml$/.test(file))
  .flatMap(yamlOf);

/** The one object of that kind and name; the patch of a component has its name too, and comes after the base. */
const find = (kind: string, name = 'lodestone'): Yaml =>
  objects.find((each) => each.kind === kind && each.metadata.name === name);
const set = find('StatefulSet');
const pod = set.spec.template.spec;
const [container] = pod.containers;
const labels = set.spec.template.metadata.labels;
const image = dockerStages()[2]!;
const imageEnv = assignments(only(image, 'ENV'));
/** The example with tokens of one's own in it. */
const secrets: Record<string, string> = {
  ...find('Secret').stringData,
  LODESTONE_ADMIN_TOKEN: 'an-admin-token-of-the-operator',
  LODESTONE_METRICS_TOKEN: 'a-metrics-token-of-the-operator',
};
const env: Record<string, string> = {
  ...imageEnv,
  ...Object.fromEntries(container.env.map(({ name, value }: Yaml) => [name, value])),
  ...secrets,
};
const load = (env: Record<string, string>) => loadConfig({ file: `${base}/lodestone.yaml`, env, cwd: root });
const config = load(env);

describe('kustomizations', () => {
  it('list every file of their folder', () => {
    for (const file of filesIn(folder).filter((each) => each.endsWith('/kustomization.yaml'))) {
      const { resources = [], patches = [], configMapGenerator = [] } = yamlOf(file)[0];
      const listed = [
        ...resources,
        ...patches.map(({ path }: Yaml) => path),
        ...configMapGenerator.flatMap((each: Yaml) => each.files),
      ];
      const others = filesIn(dirname(file)).map((each) => basename(each));
      const unlisted = new Set(['kustomization.yaml', 'secret.example.yaml', 'adapter-rule.yaml']);
      expect(listed.toSorted(), file).toEqual(others.filter((name) => !unlisted.has(name)).toSorted());
    }
  });

  it('pin the image to the version of this checkout', () => {
    const [{ name, newTag }] = kustomization.images;
    expect(container.image).toBe(name);
    expect(newTag).toBe(manifest.version);
  });
});

describe('the configuration of the pods', () => {
  it('is accepted, and the entries of the secret are variables that are read', () => {
    const { LODESTONE_DATABASE_URL, LODESTONE_REDIS_URL, LODESTONE_ADMIN_TOKEN } = secrets;
    expect(config.storage).toEqual({
      dataDir: container.volumeMounts.find(({ name }: Yaml) => name === 'journal').mountPath,
      databaseUrl: LODESTONE_DATABASE_URL,
      redisUrl: LODESTONE_REDIS_URL,
      redisTimeoutMs: 40,
      retention: null,
    });
    expect(config.adminToken).toBe(LODESTONE_ADMIN_TOKEN);
    const { credentials } = find('ServiceMonitor').spec.endpoints[0].authorization;
    expect([credentials.name, config.metricsToken]).toEqual([find('Secret').metadata.name, secrets[credentials.key]]);
    expect(config.registration).toBe('closed');
    expect(container.envFrom).toEqual([{ secretRef: { name: find('Secret').metadata.name } }]);
  });

  it('names each pod by what no other running pod has, so that it may take over its own lock on a network volume', () => {
    const entries: Record<string, Yaml> = Object.fromEntries(container.env.map((each: Yaml) => [each.name, each]));
    expect(entries.LODESTONE_MACHINE_ID?.value).toBe('$(POD_NAMESPACE)/$(POD_NAME)');
    expect(entries.POD_NAMESPACE?.valueFrom.fieldRef.fieldPath).toBe('metadata.namespace');
    expect(entries.POD_NAME?.valueFrom.fieldRef.fieldPath).toBe('metadata.name');
  });

  it('is refused while the secret still has the admin token of the example', () => {
    const { LODESTONE_ADMIN_TOKEN } = find('Secret').stringData;
    expect(() => load({ ...env, LODESTONE_ADMIN_TOKEN })).toThrow('LODESTONE_ADMIN_TOKEN');
  });

  it('is where LODESTONE_CONFIG says, from the map that the kustomization makes', () => {
    const [{ name, files }] = kustomization.configMapGenerator;
    const volume = pod.volumes.find((each: Yaml) => each.configMap?.name === name);
    const { mountPath } = container.volumeMounts.find((each: Yaml) => each.name === volume.name);
    expect(env.LODESTONE_CONFIG).toBe(join(mountPath, files[0]));
  });

  it('mounts every volume that it has, and none that it has not', () => {
    const declared = [...pod.volumes, ...set.spec.volumeClaimTemplates.map((each: Yaml) => each.metadata)];
    const names = (list: Yaml[]) => list.map(({ name }) => name).toSorted();
    expect(names(container.volumeMounts)).toEqual(names(declared));
  });
});

describe('the pods', () => {
  it('are probed on paths that there are, by the name of their port', () => {
    const probes = { startupProbe: '/healthz', livenessProbe: '/healthz', readinessProbe: '/readyz' };
    for (const [probe, path] of Object.entries(probes)) {
      expect(container[probe].httpGet).toEqual({ path, port: 'http' });
      expect(Object.keys(openApiDocument.paths)).toContain(path);
    }
  });

  it('outlive an outage of the store by two minutes, and a slow moment by one', () => {
    const patienceSeconds = ({ periodSeconds, failureThreshold }: Yaml) => periodSeconds * failureThreshold;
    expect(patienceSeconds(container.readinessProbe)).toBeGreaterThanOrEqual(120);
    expect(patienceSeconds(container.livenessProbe)).toBeGreaterThanOrEqual(60);
    // /readyz itself waits a second for the store.
    expect(container.readinessProbe.timeoutSeconds).toBeGreaterThan(1);
  });

  it('have time for balancers to forget them, for every stream to end, and to settle', () => {
    const preStopSeconds = Number(container.lifecycle.preStop.exec.command[1]);
    const settleSeconds = 20;
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(
      preStopSeconds + config.server.drainMs / 1000 + settleSeconds,
    );
    expect(config.server.drainMs).toBeGreaterThan(config.timeouts.overallMs);
  });

  it('have no rights and cannot write but to their volumes, as the image’s own user', () => {
    const [uid, gid] = only(image, 'USER').split(':').map(Number);
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: uid, runAsGroup: gid, fsGroup: gid });
    expect(pod.securityContext.seccompProfile).toEqual({ type: 'RuntimeDefault' });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect([pod.automountServiceAccountToken, find('ServiceAccount').automountServiceAccountToken]).toEqual([
      false,
      false,
    ]);
    expect(find('Namespace').metadata.labels['pod-security.kubernetes.io/enforce']).toBe('restricted');
  });

  it('ask for what they need, and have a bound of memory', () => {
    expect(container.resources).toMatchObject({ requests: { cpu: '1', memory: '512Mi' }, limits: { memory: '2Gi' } });
  });

  it('are replaced several at a time, but never all', () => {
    const { maxUnavailable } = set.spec.updateStrategy.rollingUpdate;
    expect(Number.parseInt(maxUnavailable, 10)).toBeGreaterThan(100 / find('HorizontalPodAutoscaler').spec.maxReplicas);
    expect(Number.parseInt(maxUnavailable, 10)).toBeLessThanOrEqual(50);
  });

  it('keep the volume with their journal, whoever scales or deletes', () => {
    expect(set.spec.persistentVolumeClaimRetentionPolicy).toEqual({ whenDeleted: 'Retain', whenScaled: 'Retain' });
    expect(set.spec.volumeClaimTemplates[0].spec.accessModes).toEqual(['ReadWriteOnce']);
  });
});

describe('what stands around the pods', () => {
  it('selects them by labels that they have', () => {
    const selectors = [
      set.spec.selector.matchLabels,
      find('Service').spec.selector,
      find('Service', 'lodestone-pods').spec.selector,
      find('PodDisruptionBudget').spec.selector.matchLabels,
      find('NetworkPolicy').spec.podSelector.matchLabels,
      ...pod.topologySpreadConstraints.map((each: Yaml) => each.labelSelector.matchLabels),
    ];
    for (const selector of selectors) expect(labels).toMatchObject(selector);
    const scraped = ['lodestone', 'lodestone-pods'].filter((name) => find('Service', name).metadata.labels);
    expect(scraped, 'each pod is scraped once').toEqual(['lodestone']);
    expect(find('Service').metadata.labels).toMatchObject(find('ServiceMonitor').spec.selector.matchLabels);
  });

  it('speaks of one port from the image to the ingress', () => {
    expect(only(image, 'EXPOSE')).toBe(String(config.server.port));
    expect(container.ports).toEqual([{ name: 'http', containerPort: config.server.port }]);
    const [port] = find('Service').spec.ports;
    expect(port.targetPort).toBe('http');
    const [{ backend }] = find('Ingress').spec.rules[0].http.paths;
    expect(backend.service).toEqual({ name: 'lodestone', port: { name: port.name } });
    expect(find('HTTPRoute').spec.rules[0].backendRefs).toEqual([{ name: 'lodestone', port: port.port }]);
    expect(find('NetworkPolicy').spec.ingress[0].ports[0].port).toBe('http');
    expect(find('ServiceMonitor').spec.endpoints[0]).toMatchObject({ port: port.name, path: '/metrics' });
    const pods = find('Service', 'lodestone-pods');
    expect([pods.metadata.name, pods.spec.clusterIP]).toEqual([set.spec.serviceName, 'None']);
  });

  it('scales the StatefulSet, which names no number itself, by CPU or by the event loop', () => {
    const { apiVersion, kind, metadata, spec } = set;
    expect(find('HorizontalPodAutoscaler').spec.scaleTargetRef).toEqual({ apiVersion, kind, name: metadata.name });
    expect(spec).not.toHaveProperty('replicas');
    expect(find('HorizontalPodAutoscaler').spec.minReplicas, 'one may go, and one is left').toBeGreaterThan(
      find('PodDisruptionBudget').spec.maxUnavailable,
    );
    const component = `${folder}/components/event-loop-autoscaler`;
    const [{ pods }] = yamlOf(`${component}/autoscaler.yaml`)[0].spec.metrics;
    const [rule] = yamlOf(`${component}/adapter-rule.yaml`)[0].rules;
    expect(pods.metric.name).toBe(rule.name.as);
    for (const [series] of `${rule.seriesQuery} ${rule.metricsQuery}`.matchAll(/nodejs_\w+/g)) {
      expect(Object.keys(metricTable)).toContain(series);
    }
  });

  it('does not cut or buffer what Lodestone may still answer', () => {
    const { annotations } = find('Ingress').metadata;
    const setting = (name: string) => annotations[`nginx.ingress.kubernetes.io/${name}`];
    expect(Number(setting('proxy-read-timeout')) * 1000).toBeGreaterThan(config.timeouts.overallMs);
    expect(setting('proxy-buffering')).toBe('off');
    expect(Number.parseInt(setting('proxy-body-size'), 10), 'MiB; 32 are allowed').toBeGreaterThan(32);
    expect(find('HTTPRoute').spec.rules[0].timeouts).toEqual({ request: '0s', backendRequest: '0s' });
  });
});

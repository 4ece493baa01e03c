/** The Helm chart makes the same objects as the kustomization, in the namespace of its release. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { loadConfig } from '../../src/config/load-config.js';
import { chart, chartValues, type Release, renderChart } from './helm-render.js';
import { filesIn, manifest, root, type Yaml, yamlOf } from './shipped-files.js';

const everything = {
  ingress: { enabled: true },
  httpRoute: { enabled: true },
  serviceMonitor: { enabled: true },
  networkPolicy: { enabled: true },
};
const release: Release = { name: 'lodestone', namespace: 'ai', values: everything };
const objects = renderChart(release);
const find = (list: readonly Yaml[], kind: string, name = 'lodestone'): Yaml =>
  list.find((each) => each.kind === kind && each.metadata.name === name);
const base: Yaml[] = filesIn('deploy/kubernetes')
  .filter(
    (file) => !/(kustomization|lodestone|adapter-rule|(event-loop|in-flight)-autoscaler\/autoscaler)\.yaml$/.test(file),
  )
  .flatMap(yamlOf);

function hasProgram(name: string): boolean {
  try {
    execFileSync(name, ['version', '--client'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

describe('the chart', () => {
  it('is of the version of this checkout', () => {
    expect([chart.version, chart.appVersion]).toEqual([manifest.version, manifest.version]);
    const [{ image }] = find(objects, 'StatefulSet').spec.template.spec.containers;
    expect(image).toBe(`${chartValues.image.repository}:${manifest.version}`);
  });

  it('puts every object into the namespace of the release', () => {
    expect(objects.length).toBeGreaterThan(9);
    for (const { kind, metadata } of objects) expect([kind, metadata.namespace]).toEqual([kind, 'ai']);
  });

  it('makes nothing that was not asked for', () => {
    const kinds = renderChart({ name: 'x', namespace: 'y' }).map(({ kind }) => kind);
    expect(kinds).not.toEqual(expect.arrayContaining(['Ingress']));
    expect(kinds).not.toEqual(expect.arrayContaining(['NetworkPolicy']));
  });

  it.each([
    'PodDisruptionBudget',
    'HorizontalPodAutoscaler',
    'Ingress',
    'HTTPRoute',
    'ServiceMonitor',
    'NetworkPolicy',
  ])('has the %s of the kustomization', (kind) => {
    expect(withoutInstance(find(objects, kind).spec)).toEqual(find(base, kind).spec);
  });

  it('has its StatefulSet too', () => {
    const { spec } = structuredClone(find(objects, 'StatefulSet'));
    const [container] = spec.template.spec.containers;
    expect(spec.template.metadata.annotations['checksum/config']).toMatch(/^[0-9a-f]{64}$/);
    delete spec.template.metadata.annotations;
    delete container.imagePullPolicy;
    container.image = 'lodestone';
    expect(withoutInstance(spec)).toEqual(find(base, 'StatefulSet').spec);
  });

  it('has a configuration that is accepted, and rolls a changed one out', () => {
    const { data } = find(objects, 'ConfigMap', 'lodestone-config');
    const folder = mkdtempSync(join(tmpdir(), 'lodestone-helm-'));
    writeFileSync(join(folder, 'lodestone.yaml'), data['lodestone.yaml']);
    const env = { LODESTONE_DATABASE_URL: 'postgres://x/y', LODESTONE_REDIS_URL: 'redis://x' };
    const { server } = loadConfig({ env, cwd: folder });
    rmSync(folder, { recursive: true });
    expect(server.drainMs).toBe(310_000);
    const changed = renderChart({ ...release, values: { config: { server: { drain: '6m' } } } });
    const sumOf = (list: Yaml[]) => find(list, 'StatefulSet').spec.template.metadata.annotations['checksum/config'];
    expect(sumOf(changed)).not.toBe(sumOf(objects));
  });

  it.skipIf(!hasProgram('helm'))('renders in Helm as it does here', () => {
    const values = stringify(everything);
    const text = execFileSync(
      'helm',
      // A Helm that was built by hand takes the cluster for an old one.
      [...'template lodestone deploy/helm/lodestone --namespace ai --kube-version 1.34.0 --values -'.split(' ')],
      {
        cwd: root,
        input: values,
      },
    ).toString();
    const kept = parseAllDocuments(text).flatMap((document) => (document.toJS() as Yaml) ?? []);
    for (const object of kept) {
      const ours = structuredClone(find(objects, object.kind, object.metadata.name));
      // Helm writes a configuration in its own order, so its checksum and text differ.
      for (const each of [object, ours]) {
        delete each.spec?.template?.metadata?.annotations;
        if (each.data) each.data = parse(each.data['lodestone.yaml']);
      }
      expect(object).toEqual(ours);
    }
    expect(kept).toHaveLength(objects.length);
  });
});

describe('the kustomization', () => {
  it.skipIf(!hasProgram('kubectl'))(
    'puts every component into one namespace, also into another one than its own',
    () => {
      const folder = mkdtempSync(join(tmpdir(), 'lodestone-kustomize-'));
      const path = relative(folder, join(root, 'deploy/kubernetes'));
      const components = [
        'ingress',
        'gateway-route',
        'service-monitor',
        'network-policy',
        'event-loop-autoscaler',
        'in-flight-autoscaler',
      ];
      const kustomization = (namespace?: string) =>
        stringify({
          apiVersion: 'kustomize.config.k8s.io/v1beta1',
          kind: 'Kustomization',
          resources: [`${path}/base`],
          components: components.map((name) => `${path}/components/${name}`),
          ...(namespace && { namespace }),
        });
      const namespacesOf = (namespace?: string) => {
        writeFileSync(join(folder, 'kustomization.yaml'), kustomization(namespace));
        const text = execFileSync('kubectl', ['kustomize', folder]).toString();
        const made = parseAllDocuments(text).map((document) => document.toJS() as Yaml);
        expect(made.length).toBeGreaterThan(9);
        return new Set(made.filter(({ kind }) => kind !== 'Namespace').map(({ metadata }) => metadata.namespace));
      };
      expect([...namespacesOf()]).toEqual(['lodestone']);
      expect([...namespacesOf('ai')]).toEqual(['ai']);
      rmSync(folder, { recursive: true });
    },
  );
});

/** Labels of one release among several, which the kustomization does not have. */
function withoutInstance(value: Yaml): Yaml {
  return JSON.parse(JSON.stringify(value), (key, each) => (key === 'app.kubernetes.io/instance' ? undefined : each));
}

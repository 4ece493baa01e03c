/** The chart with five sets of values makes the objects of the golden files, which Helm has written, and every value is explained. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isMap, isScalar, parse, parseAllDocuments, parseDocument, type YAMLMap } from 'yaml';
import { renderChart } from './helm-render.js';
import { filesIn, root, textOf, type Yaml } from './shipped-files.js';

const sets = ['plain', 'everything', 'small', 'cloud', 'gateway'];
const fileOf = (kind: string, name: string) => `tests/shipping/helm/${kind}-${name}.yaml`;
const helm = process.env.LODESTONE_KUBE_TOOLS && join(process.env.LODESTONE_KUBE_TOOLS, 'helm');

/** Helm writes a configuration in its own order, so its text and its checksum differ. */
function comparable(object: Yaml): Yaml {
  const copy = structuredClone(object);
  if (copy.kind === 'StatefulSet') delete copy.spec.template.metadata.annotations;
  if (copy.kind === 'ConfigMap') copy.data = parse(copy.data['lodestone.yaml']);
  return copy;
}
const sorted = (objects: Yaml[]) =>
  objects
    .map(comparable)
    .toSorted((a, b) => (`${a.kind}/${a.metadata.name}` < `${b.kind}/${b.metadata.name}` ? -1 : 1));

describe('the chart', () => {
  it.each(sets)('with the values "%s" makes the objects of its golden file', (name) => {
    const golden = parseAllDocuments(textOf(fileOf('golden', name))).flatMap((each) => (each.toJS() as Yaml) ?? []);
    const values = parse(textOf(fileOf('values', name)));
    expect(sorted(renderChart({ name: 'lodestone', namespace: 'ai', values }))).toEqual(sorted(golden));
  });

  it('has golden files for these sets alone', () => {
    const names = sets.flatMap((name) => [fileOf('golden', name), fileOf('values', name)]);
    expect(filesIn('tests/shipping/helm').toSorted()).toEqual(names.toSorted());
  });

  it.skipIf(!helm || !existsSync(helm))(
    'is sound to helm lint, and helm template writes the golden files (LODESTONE_KUBE_TOOLS)',
    () => {
      const run = (...args: string[]) => execFileSync(helm!, args, { cwd: root, encoding: 'utf8' });
      for (const name of sets) {
        const values = ['--values', fileOf('values', name)];
        expect(run('lint', '--strict', 'deploy/helm/lodestone', ...values)).toContain('0 chart(s) failed');
        const text = run(
          'template',
          'lodestone',
          'deploy/helm/lodestone',
          '--kube-version',
          '1.34.4',
          '--namespace',
          'ai',
          ...values,
        );
        expect(text, name).toBe(textOf(fileOf('golden', name)));
      }
    },
  );

  it('explains every value, each key by a comment before it', () => {
    const document = parseDocument(textOf('deploy/helm/lodestone/values.yaml'));
    const unexplained: string[] = [];
    const visit = (map: YAMLMap, path: string[]) => {
      for (const [index, { key, value }] of map.items.entries()) {
        const at = [...path, String(isScalar(key) ? key.value : key)];
        const isOpen = isMap(value) && !value.flow && at.at(-1) !== 'annotations';
        const comment = isScalar(key) ? key.commentBefore : undefined;
        // A comment before the first key of a block is the block's to the parser.
        const ofBlock = index === 0 ? map.commentBefore : undefined;
        if (isOpen) visit(value as YAMLMap, at);
        else if (!comment && !ofBlock) unexplained.push(at.join('.'));
      }
    };
    visit(document.contents as YAMLMap, []);
    expect(unexplained).toEqual([]);
  });
});

/**
 * The recipes of CONTRIBUTING.md as edits of a checkout. Each lists the files that it touches, which is what CONTRIBUTING's table says.
 * A gate and a dialect are copies of existing ones, so that these recipes stay valid when the interfaces change.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export interface Recipe {
  /** The first cell of the row in CONTRIBUTING. */
  readonly adding: string;
  /** The second cell: new and changed files; `npm run docs` writes the generated pages. */
  readonly touches: readonly string[];
  apply(checkout: Checkout): void;
}

/** A scratch copy whose files may be hard links to the real ones, so a file is replaced and never written in place. */
export class Checkout {
  readonly touched = new Set<string>();

  constructor(readonly root: string) {}

  read(path: string): string {
    return readFileSync(join(this.root, path), 'utf8');
  }

  write(path: string, text: string): void {
    const file = join(this.root, path);
    mkdirSync(dirname(file), { recursive: true });
    rmSync(file, { force: true });
    writeFileSync(file, text);
    this.touched.add(path);
  }

  /** Adds a line behind the first line that matches. */
  addLine(path: string, after: RegExp, line: string): void {
    const lines = this.read(path).split('\n');
    const at = lines.findIndex((existing) => after.test(existing));
    if (at < 0) throw new Error(`${path} has no line that matches ${after}`);
    lines.splice(at + 1, 0, line);
    this.write(path, lines.join('\n'));
  }

  /** Copies a folder under another name, with the old name replaced in its files and their names. Tests stay behind. */
  copyFolder(from: string, to: string, names: readonly (readonly [string, string])[]): void {
    const renamed = (text: string) => names.reduce((result, [old, next]) => result.replaceAll(old, next), text);
    cpSync(join(this.root, from), join(this.root, to), { recursive: true });
    for (const entry of readdirSync(join(this.root, to), { withFileTypes: true })) {
      const file = join(this.root, to, entry.name);
      if (entry.isDirectory() || /\.test\.ts$/.test(entry.name)) rmSync(file, { recursive: true });
      else if (renamed(entry.name) !== entry.name) renameSync(file, join(this.root, to, renamed(entry.name)));
    }
    for (const name of readdirSync(join(this.root, to)))
      this.write(`${to}/${name}`, renamed(this.read(`${to}/${name}`)));
  }
}

const gateNames = [
  ['max_carbon', 'max_grid'],
  ['maxCarbon', 'maxGrid'],
  ['max-carbon', 'max-grid'],
] as const;

export const recipes: readonly Recipe[] = [
  {
    adding: 'a provider with a known dialect',
    touches: ['catalogue/providers/<group>.yaml', 'catalogue/models/<creator>.yaml'],
    apply: (checkout) => {
      checkout.write(
        'catalogue/providers/inference.yaml',
        `${checkout.read('catalogue/providers/inference.yaml').trimEnd()}

  - id: example-provider
    name: Example Provider
    dialect: openai
    base_url: https://api.provider.example/v1
    api_key_env: EXAMPLE_PROVIDER_API_KEY
    headquarters: US
    cloud_act: true
`,
      );
      checkout.addLine(
        'catalogue/models/meta-llama.yaml',
        /^ {4}routes:$/,
        `      - { provider: example-provider, locode: global, processing: unspecified, upstream_model: llama-3.3-70b,
          max_output_tokens: 32768, price: { input: 0.5, output: 0.7 }, capabilities: [tools] }`,
      );
    },
  },
  {
    adding: 'a dialect',
    touches: ['src/providers/dialects/<dialect>/', 'src/providers/dialects/registry.ts'],
    apply: (checkout) => {
      const registry = 'src/providers/dialects/registry.ts';
      checkout.copyFolder('src/providers/dialects/azure', 'src/providers/dialects/example', [['azure', 'example']]);
      const line = checkout
        .read(registry)
        .split('\n')
        .find((existing) => existing.startsWith('import { azure }'))!;
      checkout.addLine(registry, /^import \{ azure \}/, line.replaceAll('azure', 'example'));
      checkout.addLine(registry, /^ {2}azure,$/, '  example,');
    },
  },
  {
    adding: 'a gate',
    touches: ['src/policy/gates/<gate>.ts', 'src/policy/gates/index.ts', 'src/policy/routing-policy.ts'],
    apply: (checkout) => {
      const gate = checkout.read('src/policy/gates/max-carbon.ts');
      checkout.write(
        'src/policy/gates/max-grid.ts',
        gateNames.reduce((text, [old, next]) => text.replaceAll(old, next), gate),
      );
      const list = 'src/policy/gates/index.ts';
      checkout.addLine(list, /^import \{ maxCarbon \}/, "import { maxGrid } from './max-grid.js';");
      checkout.write(list, checkout.read(list).replace(/\bmaxCarbon,/, 'maxCarbon, maxGrid,'));
      checkout.addLine('src/policy/routing-policy.ts', /readonly max_carbon: /, '  readonly max_grid: number | null;');
    },
  },
  {
    adding: 'an error',
    touches: ['src/errors/table-<part>.ts'],
    apply: (checkout) =>
      checkout.addLine(
        'src/errors/table-operator.ts',
        /^export const operatorErrors = errorRows\(\{$/,
        `  example_refused: row<{ what: string }>({
    status: 400,
    when: 'An example was refused.',
    remedy: 'Send another one.',
    operations: ['createKey'],
    message: ({ what }) => \`The example "\${what}" was refused. Send another one.\`,
  }),`,
      ),
  },
  {
    adding: 'a configuration field',
    touches: ['src/config/settings.ts'],
    apply: (checkout) =>
      checkout.addLine(
        'src/config/settings.ts',
        /^ {2}limits: \{$/,
        `    example_wait: setting('exampleWaitMs', duration, 90 * seconds, { about: 'How long an example waits.' }),`,
      ),
  },
  {
    adding: 'a metric',
    touches: ['src/observability/metrics/metric-table.ts'],
    apply: (checkout) =>
      checkout.addLine(
        'src/observability/metrics/metric-table.ts',
        /^export const partMetrics = \{$/,
        `  lodestone_examples_total: notOnDashboard(counter('Examples so far.')),`,
      ),
  },
  {
    adding: 'a page of the dashboard',
    touches: ['dashboard/src/pages/<page>/', 'dashboard/src/page-list.ts'],
    apply: (checkout) => {
      checkout.write(
        'dashboard/src/pages/example/example-page.tsx',
        `/** An example. */
import { PageHeader } from '../../components/page-header.js';

export function Page() {
  return <PageHeader description="An example." title="Example" />;
}
`,
      );
      checkout.addLine(
        'dashboard/src/page-list.ts',
        /path: '\/usage'/,
        `      { path: '/example', title: 'Example', icon: UsageIcon, load: () => import('./pages/example/example-page.js') },`,
      );
    },
  },
  {
    adding: 'a page of the guide',
    touches: ['docs/guide/<page>.md', 'scripts/docs/pages.mjs'],
    apply: (checkout) => {
      checkout.write('docs/guide/example.md', '# Example\n\nSee [configuration](configuration.md).\n');
      checkout.addLine(
        'scripts/docs/pages.mjs',
        /slug: 'clients'/,
        `      { slug: 'example', file: 'guide/example.md', title: 'Example' },`,
      );
    },
  },
];

/** The table of CONTRIBUTING.md. */
export const recipeTable = `| adding | touches |
|---|---|
${recipes.map(({ adding, touches }) => `| ${adding} | ${touches.map((path) => `\`${path}\``).join(', ')} |`).join('\n')}
`;

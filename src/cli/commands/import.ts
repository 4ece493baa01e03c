/** `lodestone import litellm|bifrost|portkey …` */
import { basename, resolve } from 'node:path';
import { systemClock } from '../../base/time.js';
import { readNameFiles } from '../../catalogue/names-file.js';
import type { Config } from '../../config/config.js';
import type { AccountRow } from '../admin-client.js';
import { type Command, type CommandContext, flag, required, text } from '../command.js';
import { readConfig } from '../connection.js';
import { type Applied, type ApplyOptions, applyPlan } from '../import/apply.js';
import { readBifrostConfig, readJson } from '../import/bifrost.js';
import { CatalogueBook } from '../import/catalogue-book.js';
import { Groups, type ModelEntries } from '../import/entries.js';
import { readLitellmConfig, readYaml } from '../import/litellm-config.js';
import { readLitellmModels, readLitellmRows, reportOtherTables } from '../import/litellm-database.js';
import { finishNames } from '../import/litellm-names.js';
import { planPeople } from '../import/litellm-people.js';
import { Plan, type RateBounds } from '../import/plan.js';
import { readPortkeyConfig } from '../import/portkey.js';
import { ImportReport } from '../import/report.js';
import { configurationLines, fileNames, writeFiles } from '../import/write-files.js';
import { CommandFailure, readNamed, UsageError } from '../io.js';

const options = {
  ...{ out: text, apply: flag, account: text, 'new-account': text, 'credit-usd': text, 'credit-limit-usd': text },
  ...{ 'accept-gaps': flag, 'database-url': text, name: text },
};
const parameters =
  'SOURCE… [--out DIR] [--apply] [--account ID | --new-account EMAIL --credit-usd N|--credit-limit-usd N] [--accept-gaps]';
const sourcesMax = 100;

export const importCommands: readonly Command[] = [
  {
    name: 'import litellm',
    parameters: `${parameters} [--database-url URL]`,
    summary: 'Bring names, keys, teams and budgets along from LiteLLM.',
    ...{ options, positionalsMax: sourcesMax, run: (context) => runImport(context, 'litellm') },
  },
  {
    name: 'import bifrost',
    ...{ parameters, summary: 'Bring names, keys, teams and budgets along from Bifrost.' },
    ...{ options, positionalsMax: sourcesMax, run: (context) => runImport(context, 'bifrost') },
  },
  {
    name: 'import portkey',
    parameters: `${parameters} [--name NAME]`,
    summary: 'Bring configs along from Portkey, each as a name.',
    ...{ options, positionalsMax: sourcesMax, run: (context) => runImport(context, 'portkey') },
  },
];

/** There is a gap that nobody has accepted. */
const exitWithGaps = 3;

async function runImport(context: CommandContext, system: Plan['system']): Promise<void> {
  const { io, positionals, options: given, flags, json } = context;
  const url = given['database-url'];
  if (url !== undefined && system !== 'litellm') throw new UsageError('--database-url is for LiteLLM alone.');
  if (url === undefined) required(positionals[0], 'The source');
  const account = accountOf(context);
  const config = readConfig(given.config, io, true);
  const book = await CatalogueBook.read(config.catalogue.filter((file) => !file.endsWith(fileNames.catalogue)));
  const gateway = await lookAtGateway(context);
  const takenNames = await namesElsewhere(config.names, gateway, system);
  const nowMs = systemClock.now();
  const into: ModelEntries = {
    ...{
      plan: new Plan(system, boundsOf(config, gateway, account.account)),
      book,
      report: new ImportReport(),
      claimed: new Map(),
    },
    defaultFault: await defaultChecker(),
    ...{ env: io.env, placed: new Map(), covered: new Map(), credentials: new Map(), groups: new Groups() },
    takenNames,
    today: new Date(nowMs).toISOString().slice(0, 10),
  };
  const contents = positionals.map((source) => contentOf(context, source));
  for (const content of contents) into.plan.noteVariables(content);
  for (const [index, source] of positionals.entries())
    readSource(context, into, { system, content: contents[index]!, file: basename(source) });
  if (url !== undefined) {
    const rows = await readLitellmRows(url);
    const key = io.env.LITELLM_SALT_KEY ?? io.env.LITELLM_MASTER_KEY ?? null;
    readLitellmModels(into, rows, key);
    finishNames(into);
    planPeople(rows, into.plan, into.report, nowMs);
    reportOtherTables(into.report, rows);
  } else finishNames(into);
  const { plan, report } = into;
  const dir = resolve(io.cwd, given.out ?? '.');
  writeFiles(dir, plan, report.markdown(`Import from ${sourcesOf(positionals, url)}`));
  const gaps = report.count('not taken');
  if (json) io.out(JSON.stringify({ counts: countsOf(plan), report: report.lines }, null, 2));
  else printSummary(context, into, dir);
  if (gaps > 0 && !flags.has('accept-gaps')) {
    io.err(
      `${gaps} ${gaps === 1 ? 'field was' : 'fields were'} not taken; ${fileNames.report} says which, and why. With --accept-gaps this is no fault.`,
    );
    return context.markFailed(exitWithGaps);
  }
  if (!flags.has('apply')) return;
  const applied = await applyPlan(plan, { client: context.client(), ...account });
  if (!json) printApplied(context, applied);
}

/** Loads what reads requests, which no other command needs. */
async function defaultChecker(): Promise<ModelEntries['defaultFault']> {
  const { defaultFaults } = await import('../../doors/name-defaults.js');
  return (name, value) => defaultFaults({ [name]: value })[0]?.reason ?? null;
}

function printApplied({ io }: CommandContext, { made, there, differing, remarks }: Applied): void {
  for (const [what, count] of Object.entries(made)) {
    const other = differing[what as 'keys'];
    const changed = other === 0 ? '' : `, of which ${other} differ from the source and stay as they are`;
    io.out(`${count} ${what} made, ${there[what as 'keys']} there already${changed}.`);
  }
  for (const remark of remarks) io.out(remark);
}

function sourcesOf(files: readonly string[], url: string | undefined): string {
  return [...files.map((source) => basename(source)), ...(url === undefined ? [] : ['the database'])].join(', ');
}

/** Names of the configuration and of the running gateway that are not from an import. */
async function namesElsewhere(
  files: readonly string[],
  gateway: Gateway | null,
  system: Plan['system'],
): Promise<ReadonlySet<string>> {
  const { names } = await readNameFiles(files);
  const listed = [...names.values()].map(({ name }) => ({ name: name.name, system: name.importedFrom?.system }));
  const loaded = (gateway?.names ?? []).map(({ name, imported_from: from }) => ({ name, system: from?.system }));
  return new Set([...listed, ...loaded].flatMap((each) => (each.system === system ? [] : each.name)));
}

interface Gateway {
  readonly names: readonly { name: string; imported_from: { system: string } | null }[];
  readonly accounts: readonly AccountRow[];
}

/** null where no gateway runs, or where it cannot be asked without `--apply`. */
async function lookAtGateway(context: CommandContext): Promise<Gateway | null> {
  try {
    const client = context.client();
    const { data: names } = await client.call<{ data: Gateway['names'] }>('GET', '/names');
    return { names, accounts: (await client.accounts()).data };
  } catch (error) {
    if (context.flags.has('apply') || !(error instanceof CommandFailure)) throw error;
    return null;
  }
}

/** The limits that no key of the account is above. */
function boundsOf({ limits }: Config, gateway: Gateway | null, account: ApplyOptions['account']): RateBounds {
  const own = gateway?.accounts.find(({ id, email }) =>
    'id' in account ? id === account.id : email === account.email,
  );
  return {
    requestsPerMinute: own?.limits.requests_per_minute ?? limits.keyRequestsPerMinute,
    tokensPerMinute: own?.limits.tokens_per_minute ?? limits.keyTokensPerMinute,
  };
}

/** Editors of Windows begin a file with a byte-order mark. */
function contentOf({ io }: CommandContext, source: string): string {
  return readNamed(source, io)
    .toString('utf8')
    .replace(/^\uFEFF/, '');
}

interface Source {
  readonly system: Plan['system'];
  readonly content: string;
  readonly file: string;
}

function readSource({ options: given }: CommandContext, into: ModelEntries, { system, content, file }: Source): void {
  const repeated = (line: number) =>
    into.report.changed(`${file}:${line}`, 'the key stands twice in this mapping: the last one holds, as for LiteLLM');
  if (system === 'litellm') readLitellmConfig(into, readYaml(content, file, repeated), file);
  else if (system === 'bifrost') readBifrostConfig(into, readJson(content, file), file);
  else readPortkeyConfig(into, readJson(content, file), given.name ?? file.replace(/\.[^.]*$/, ''), file);
}

function accountOf({ options: given, flags }: CommandContext): Omit<ApplyOptions, 'client'> {
  const { account, 'new-account': email, 'credit-usd': amountUsd, 'credit-limit-usd': limitUsd } = given;
  if (account !== undefined && email !== undefined)
    throw new UsageError('Give only one of --account and --new-account.');
  if (amountUsd !== undefined && limitUsd !== undefined)
    throw new UsageError('Give only one of --credit-usd and --credit-limit-usd.');
  if (flags.has('apply') && account === undefined && email === undefined) {
    throw new UsageError('--apply needs --account ID, or --new-account EMAIL with --credit-usd or --credit-limit-usd.');
  }
  const credit = amountUsd !== undefined ? { amountUsd } : limitUsd !== undefined ? { limitUsd } : null;
  if (email !== undefined && credit === null)
    throw new UsageError('--new-account needs --credit-usd or --credit-limit-usd.');
  return { account: account !== undefined ? { id: account } : { email: (email ?? '').toLowerCase() }, credit };
}

function countsOf(plan: Plan) {
  const { providers, names, accounts, projects, people, keys } = plan;
  return {
    ...{ providers: providers.size, names: names.size, accounts: accounts.length, projects: projects.length },
    ...{ people: people.length, keys: keys.length },
  };
}

function printSummary({ io }: CommandContext, { plan, report }: ModelEntries, dir: string): void {
  const counts = Object.entries(countsOf(plan)).map(([what, count]) => `${count} ${what}`);
  io.out(`Found: ${counts.join(', ')}.`);
  const verdicts = (['taken', 'changed', 'not taken'] as const).map((verdict) => `${report.count(verdict)} ${verdict}`);
  io.out(`Fields: ${verdicts.join(', ')}. ${fileNames.report} has a line for each.`);
  io.out('Take the files into lodestone.yaml:');
  for (const line of configurationLines(dir, plan)) io.out(`  ${line}`);
}

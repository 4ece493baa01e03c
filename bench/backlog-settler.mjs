/** The settler of a checkout as a process of its own, for bench/backlog.mjs: it says when it works, and its peak of memory when asked. */
import { pathToFileURL } from 'node:url';

const [root, file, connection] = process.argv.slice(2);
const module = (name) => import(pathToFileURL(`${root}/dist/${name}.js`).href);
const [{ loadConfig }, { startProgram }, { collectOldEarly }] = await Promise.all([
  module('config/load-config'),
  module('app/settler/program'),
  module('base/v8-settings'),
]);
collectOldEarly();
const logger = { debug() {}, info() {}, warn: console.error, error: console.error };
const config = loadConfig({ file, env: {}, cwd: root });
await startProgram({ config, connection: JSON.parse(connection), logger, waits: false });
process.on('message', () => process.send({ memory: process.resourceUsage().maxRSS }));
process.send('works');

/** Run before each test file, also where files share a process. */
import { hashCheaply } from './cheap-passwords.js';
import { measureCpu } from './measure-cpu.js';
import { forgetSecrets } from './secrets.js';

measureCpu();
hashCheaply();
forgetSecrets();

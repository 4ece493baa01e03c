/** Run before each test file, also where files share a process. */
import { forgetSecrets } from './secrets.js';

forgetSecrets();

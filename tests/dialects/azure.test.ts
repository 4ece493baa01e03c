import { azureFixture } from './azure.js';
import { failuresSuite } from './failures-suite.js';
import { propertiesSuite } from './properties-suite.js';
import { dialectSuite } from './suite.js';

dialectSuite(azureFixture);
failuresSuite(azureFixture);
propertiesSuite(azureFixture);

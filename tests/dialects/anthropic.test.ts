import { anthropicFixture } from './anthropic.js';
import { failuresSuite } from './failures-suite.js';
import { propertiesSuite } from './properties-suite.js';
import { dialectSuite } from './suite.js';

dialectSuite(anthropicFixture);
failuresSuite(anthropicFixture);
propertiesSuite(anthropicFixture);

import { failuresSuite } from './failures-suite.js';
import { openAiFixture } from './openai.js';
import { propertiesSuite } from './properties-suite.js';
import { dialectSuite } from './suite.js';

dialectSuite(openAiFixture);
failuresSuite(openAiFixture);
propertiesSuite(openAiFixture);

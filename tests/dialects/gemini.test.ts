import { failuresSuite } from './failures-suite.js';
import { geminiFixture } from './gemini.js';
import { propertiesSuite } from './properties-suite.js';
import { dialectSuite } from './suite.js';

dialectSuite(geminiFixture);
failuresSuite(geminiFixture);
propertiesSuite(geminiFixture);

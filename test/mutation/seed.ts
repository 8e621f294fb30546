/** Has tests with generated inputs take the same in each run, so that a mutation run counts the same twice. */
import { configureGlobal } from 'fast-check';

configureGlobal({ seed: 1 });

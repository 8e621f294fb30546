/** Makes generated inputs the same in each run, so that mutation runs are reproducible, and disables shrinking. */
import { configureGlobal, readConfigureGlobal } from 'fast-check';

configureGlobal({ ...readConfigureGlobal(), seed: 1, endOnFailure: true });

/**
 * Lets generated texts and lists be as long as a test says they may be. fast-check makes none of more than ten parts or so unless it
 * is told to, whatever `maxLength` is.
 */
import { configureGlobal, readConfigureGlobal } from 'fast-check';

configureGlobal({ ...readConfigureGlobal(), defaultSizeToMaxWhenMaxSpecified: true });

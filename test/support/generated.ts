/** Allows long generated texts and lists. By default fast-check makes at most about ten parts, even with a larger `maxLength`. */
import { configureGlobal, readConfigureGlobal } from 'fast-check';

configureGlobal({ ...readConfigureGlobal(), defaultSizeToMaxWhenMaxSpecified: true });

/** A service of AWS whose resources are destinations, named by ARN instead of a URL. */
export interface ArnKind {
  /** A resource in a sentence. */
  readonly what: string;
  readonly service: string;
  readonly one: string;
  readonly many: string;
  /** How refusals show the end of an ARN, after the account. */
  readonly form: string;
  /** A regular expression for the end of a pattern of ARNs, in which `*` matches any characters. */
  readonly patterns: string;
  /** The permission that deliveries need. */
  readonly action: string;
  /** Whether the deployment itself has such resources, to which nothing may be delivered. */
  readonly isOwn: boolean;
}

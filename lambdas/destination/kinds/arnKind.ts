/** A service of AWS whose resources are destinations, named by ARN instead of a URL. */
export interface ArnKind {
  /** A resource in a sentence. */
  readonly what: string;
  readonly service: string;
  readonly one: string;
  readonly many: string;
  /** The end of an ARN, after the account, in a refusal. */
  readonly form: string;
  /** The end of a pattern of ARNs, in which `*` is any characters: the source of a regular expression. */
  readonly patterns: string;
  /** The right that deliveries need. */
  readonly action: string;
  /** Whether the deployment has such resources itself, which must get no messages. */
  readonly isOwn: boolean;
}

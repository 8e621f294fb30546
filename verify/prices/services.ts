/** AWS's services, as named in Cost Explorer. */
export const services = {
  gateway: 'Amazon API Gateway',
  lambda: 'AWS Lambda',
  sqs: 'Amazon Simple Queue Service',
  dynamodb: 'Amazon DynamoDB',
  s3: 'Amazon Simple Storage Service',
  cloudWatch: 'AmazonCloudWatch',
  secrets: 'AWS Secrets Manager',
  waf: 'AWS WAF',
  ec2: 'Amazon Elastic Compute Cloud - Compute',
  ec2Other: 'EC2 - Other',
  vpc: 'Amazon Virtual Private Cloud',
} as const;
export type Service = (typeof services)[keyof typeof services];

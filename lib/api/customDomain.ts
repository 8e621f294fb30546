import { CfnOutput } from 'aws-cdk-lib';
import {
  CfnBasePathMapping,
  DomainName,
  EndpointType,
  type SpecRestApi,
  SecurityPolicy,
} from 'aws-cdk-lib/aws-apigateway';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { CfnRecordSet } from 'aws-cdk-lib/aws-route53';
import type { Construct } from 'constructs';

interface DomainProps {
  /** If the API shares the name, with a base path: `example.com/queue`. */
  readonly name: string;
  /** A certificate in the region of the API. Undefined if API Gateway already has the domain. */
  readonly certificateArn: string | undefined;
  /** The zone in which a record is made, if any. */
  readonly hostedZone: string | undefined;
}

/** Gives an API a domain, or a path of a domain. The generated host stays valid. */
export function makeDomain(scope: Construct, api: SpecRestApi, props: DomainProps): void {
  const { certificateArn, hostedZone } = props;
  const [name = '', basePath] = props.name.split('/');
  if (certificateArn === undefined) {
    new CfnBasePathMapping(scope, 'DomainMapping', {
      domainName: name,
      restApiId: api.restApiId,
      stage: api.deploymentStage.stageName,
      ...(basePath !== undefined && { basePath }),
    });
    return;
  }
  const domain = new DomainName(scope, 'Domain', {
    domainName: name,
    certificate: Certificate.fromCertificateArn(scope, 'Certificate', certificateArn),
    endpointType: EndpointType.REGIONAL,
    securityPolicy: SecurityPolicy.TLS_1_2,
  });
  domain.addBasePathMapping(api, { stage: api.deploymentStage, ...(basePath !== undefined && { basePath }) });
  if (hostedZone === undefined) {
    new CfnOutput(scope, 'DomainTarget', {
      value: domain.domainNameAliasDomainName,
      description: `The value of the CNAME record of ${name}`,
    });
    return;
  }
  new CfnRecordSet(scope, 'DomainRecord', {
    hostedZoneId: hostedZone,
    name,
    type: 'A',
    aliasTarget: {
      dnsName: domain.domainNameAliasDomainName,
      hostedZoneId: domain.domainNameAliasHostedZoneId,
    },
  });
}

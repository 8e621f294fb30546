/** The custom domain of an API. */
import { CfnOutput } from 'aws-cdk-lib';
import { DomainName, EndpointType, type SpecRestApi, SecurityPolicy } from 'aws-cdk-lib/aws-apigateway';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { CfnRecordSet } from 'aws-cdk-lib/aws-route53';
import type { Construct } from 'constructs';

interface DomainProps {
  readonly name: string;
  /** A certificate in the region of the API. */
  readonly certificateArn: string;
  /** The zone that gets the domain's record; undefined makes no record. */
  readonly hostedZone: string | undefined;
}

/** Gives an API a domain, whose root is the API's root. The generated host stays valid. */
export function makeDomain(scope: Construct, api: SpecRestApi, props: DomainProps): void {
  const { name, certificateArn, hostedZone } = props;
  const domain = new DomainName(scope, 'Domain', {
    domainName: name,
    certificate: Certificate.fromCertificateArn(scope, 'Certificate', certificateArn),
    endpointType: EndpointType.REGIONAL,
    securityPolicy: SecurityPolicy.TLS_1_2,
  });
  domain.addBasePathMapping(api, { stage: api.deploymentStage });
  if (hostedZone === undefined) {
    new CfnOutput(scope, 'DomainTarget', {
      value: domain.domainNameAliasDomainName,
      description: `What the name ${name} must point to: a CNAME record`,
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

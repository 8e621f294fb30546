"""MiniStack, with what it leaves out of an API's definition that API Gateway imports.

On AWS, CloudFormation imports a changed definition into the same API; MiniStack makes another API of it. It also passes over
methods named ANY, the answers of the gateway, stage variables in the name of a function, and authorizers that look at no part of
a request in particular. And what refers to a secret of a template gets its name there, and on AWS its ARN.
"""

import json
import re

from ministack.app import app
from ministack.services import apigateway_v1 as gateway
from ministack.services.cloudformation import drift, provisioners

__all__ = ["app"]

ANY = "x-amazon-apigateway-any-method"
gateway._OPENAPI_HTTP_METHODS.add(ANY)

import_operation = gateway._import_operation
import_identity_source = gateway._import_identity_source
invoke_lambda = gateway._invoke_lambda_proxy_v1


def put_rest_api(api_id, spec):
    """PutRestApi, mode overwrite: what stands in the stages stays."""
    [root] = [one for one in gateway._resources[api_id].values() if one["path"] == "/"]
    gateway._resources[api_id] = {root["id"]: {**root, "resourceMethods": {}}}
    gateway._authorizers_v1[api_id] = {}
    gateway._gateway_responses[api_id] = {}
    schemes = gateway._import_security_schemes(api_id, spec)
    for path, item in spec["paths"].items():
        gateway._import_path_item(api_id, path, item, schemes, spec.get("security"))
    for kind, answer in spec.get("x-amazon-apigateway-gateway-responses", {}).items():
        gateway._put_gateway_response(api_id, kind, answer)


def import_rest_api(spec, base=None):
    _, _, body = gateway._create_rest_api({"name": spec["info"]["title"], **(base or {})})
    api_id = json.loads(body)["id"]
    put_rest_api(api_id, spec)
    return api_id


def import_any(api_id, resource_id, method, *rest):
    import_operation(api_id, resource_id, "ANY" if method == ANY.upper() else method, *rest)


def identity_source(scheme, extension):
    if extension.get("type") == "request":
        return extension.get("identitySource", "")
    return import_identity_source(scheme, extension)


def invoke_named_function(integration, api_id, stage_name, stage, *rest, **options):
    variables = stage.get("variables") or {}
    uri = re.sub(r"\$\{stageVariables\.(\w+)\}", lambda found: variables[found[1]], integration["uri"])
    return invoke_lambda({**integration, "uri": uri}, api_id, stage_name, stage, *rest, **options)


gateway._import_rest_api = import_rest_api
gateway._import_operation = import_any
gateway._import_identity_source = identity_source
gateway._invoke_lambda_proxy_v1 = invoke_named_function

HANDLERS = provisioners._RESOURCE_HANDLERS["AWS::ApiGateway::RestApi"]
update_rest_api = HANDLERS["update"]


def update_in_place(physical_id, old, new, *rest, **options):
    """An API whose definition is taken away becomes another one here, too: then a release from before definitions follows."""
    if not new.get("Body") or new["Body"] == old.get("Body"):
        return update_rest_api(physical_id, old, new, *rest, **options)
    put_rest_api(physical_id, new["Body"])
    return physical_id, provisioners._apigw_rest_api_attrs(physical_id)


HANDLERS["update"] = update_in_place

SECRET = provisioners._RESOURCE_HANDLERS["AWS::SecretsManager::Secret"]
create_secret, update_secret, delete_secret = SECRET["create"], SECRET["update"], SECRET["delete"]


def name_of_secret(arn):
    """MiniStack knows a secret by its name. Its ARN ends with a dash and six characters."""
    return re.sub(r"^arn:[^:]*:secretsmanager:[^:]*:[^:]*:secret:(.*)-\w{6}$", r"\1", arn)


def create_secret_by_arn(*args, **options):
    _, attributes = create_secret(*args, **options)
    return attributes["Arn"], attributes


def update_secret_by_arn(physical_id, *rest, **options):
    _, attributes = update_secret(name_of_secret(physical_id), *rest, **options)
    return attributes["Arn"], attributes


def delete_secret_by_arn(physical_id, *rest, **options):
    return delete_secret(name_of_secret(physical_id), *rest, **options)


SECRET.update(create=create_secret_by_arn, update=update_secret_by_arn, delete=delete_secret_by_arn)

READERS = drift._DRIFT_READERS
read_secret, SECRET_PROPERTIES = READERS["AWS::SecretsManager::Secret"]
READERS["AWS::SecretsManager::Secret"] = (
    lambda arn, properties: read_secret(name_of_secret(arn), properties),
    SECRET_PROPERTIES,
)

# An account of the service with its schedules and URL groups, as in docs/cdk.md.
terraform {
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.0"
    }
  }
}

variable "name" {
  type        = string
  description = "Letters, digits and dashes. Another name is another account."
}

variable "service" {
  type        = object({ name = string, outputs = map(string) })
  description = "The module of the first region."
}

variable "fields" {
  type        = any
  default     = { type = "paid" }
  description = "The type and other fields of the management API: docs/limits.md."
}

variable "rotation" {
  type        = string
  default     = ""
  description = "Change it after a rotation of tokens or keys, so that the secret gets the new ones."
}

variable "schedules" {
  type = map(object({
    cron        = string
    destination = string
    body        = optional(string, "")
    headers     = optional(map(string), {}) # with their prefixes: Svc-Retries, Svc-Forward-Authorization
  }))
  default = {}
}

variable "url_groups" {
  type    = map(list(object({ url = string, name = optional(string) })))
  default = {}
}

locals {
  # The id that a CDK app gives the same name: a UUID, version 8.
  hash = sha256("${var.service.name}/${var.name}")
  id = join("-", [
    substr(local.hash, 0, 8), substr(local.hash, 8, 4), "8${substr(local.hash, 13, 3)}", "8${substr(local.hash, 17, 3)}",
    substr(local.hash, 20, 12)
  ])

  account = {
    kind     = "account"
    id       = local.id
    fields   = merge({ customer_id = var.name }, var.fields)
    url      = var.service.outputs.Url
    secret   = "$${Secret}"
    rotation = var.rotation
  }

  # The function reads one JSON text, because CloudFormation turns numbers into texts.
  contents = merge(
    { for id, one in var.schedules : "Schedule${md5(id)}" => {
      type = "Custom::SvcSchedule"
      input = jsonencode({
        kind        = "schedule"
        accountId   = local.id
        id          = id
        destination = one.destination
        body        = one.body
        headers     = concat([["Svc-Cron", one.cron]], [for name, value in one.headers : [name, value]])
      })
    } },
    { for name, endpoints in var.url_groups : "UrlGroup${md5(name)}" => {
      type = "Custom::SvcUrlGroup"
      input = jsonencode({
        kind      = "urlGroup"
        accountId = local.id
        name      = name
        endpoints = [for one in endpoints : { for key, value in one : key => value if value != null }]
      })
    } },
  )
}

resource "aws_cloudformation_stack" "account" {
  name         = "${var.service.name}-Account-${var.name}"
  capabilities = ["CAPABILITY_IAM"]
  template_body = jsonencode({
    Resources = {
      Secret = {
        Type       = "AWS::SecretsManager::Secret"
        Properties = { Description = "The token and the signing keys of the account ${var.name}" }
      }
      Right = {
        Type = "AWS::IAM::Policy"
        Properties = {
          PolicyName = "account-${var.name}"
          Roles      = [var.service.outputs.Role]
          PolicyDocument = {
            Version   = "2012-10-17"
            Statement = [{ Effect = "Allow", Action = "secretsmanager:PutSecretValue", Resource = { Ref = "Secret" } }]
          }
        }
      }
      Account = {
        Type      = "Custom::SvcAccount"
        DependsOn = "Right"
        Properties = {
          ServiceToken   = var.service.outputs.Function
          ServiceTimeout = 180
          Input          = { "Fn::Sub" = jsonencode(local.account) }
        }
      }
    }
    Outputs = { Secret = { Value = { Ref = "Secret" } } }
  })
}

# A separate stack, so that destinations may be URLs of functions that read the secret.
resource "aws_cloudformation_stack" "contents" {
  count = length(local.contents) > 0 ? 1 : 0
  name  = "${var.service.name}-Contents-${var.name}"
  template_body = jsonencode({
    Resources = { for id, one in local.contents : id => {
      Type = one.type
      Properties = {
        ServiceToken   = var.service.outputs.Function
        ServiceTimeout = 180
        Input          = one.input
      }
    } }
  })
  depends_on = [aws_cloudformation_stack.account]
}

output "secret" {
  value = aws_cloudformation_stack.account.outputs.Secret
}

# The stacks of one region, in the order of their deployment.
terraform {
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.0"
    }
  }
}

variable "folder" {
  type        = string
  description = "The folder that svc-queue template wrote."
}

variable "region" {
  type = string
}

locals {
  written = jsondecode(file("${var.folder}/stacks.json"))
  # State, Service, and in the first region Management and Accounts.
  stacks = { for stack in local.written.stacks : regex("[^-]+$", stack.name) => stack if stack.region == var.region }
  bucket = "https://s3.${var.region}.amazonaws.com/${aws_s3_bucket.assets.bucket}"
}

resource "aws_s3_bucket" "assets" {
  bucket        = local.written.buckets[var.region]
  force_destroy = true
}

resource "aws_s3_object" "assets" {
  for_each = fileset("${var.folder}/assets", "*")
  bucket   = aws_s3_bucket.assets.bucket
  key      = "${local.written.prefix}${each.value}"
  source   = "${var.folder}/assets/${each.value}"

  # An update that is rolled back still needs the code before it, so old files are deleted last. A key is a hash of the content.
  lifecycle {
    create_before_destroy = true
    ignore_changes        = [source]
  }
}

resource "aws_cloudformation_stack" "state" {
  name         = local.stacks.State.name
  template_url = "${local.bucket}/${local.stacks.State.template}"
  capabilities = ["CAPABILITY_NAMED_IAM"]
  tags         = local.stacks.State.tags
  depends_on   = [aws_s3_object.assets]

  # Tables stay (the setting retain), but a new stack could not have their names.
  lifecycle {
    prevent_destroy = true
  }

  # Replicas in other regions take most of the time.
  timeouts {
    create = "2h"
    update = "2h"
  }
}

resource "aws_cloudformation_stack" "service" {
  name         = local.stacks.Service.name
  template_url = "${local.bucket}/${local.stacks.Service.template}"
  capabilities = ["CAPABILITY_NAMED_IAM"]
  tags         = local.stacks.Service.tags
  depends_on   = [aws_cloudformation_stack.state]

  timeouts {
    create = "2h"
    update = "2h"
  }
}

resource "aws_cloudformation_stack" "others" {
  for_each     = { for part, stack in local.stacks : part => stack if !contains(["State", "Service"], part) }
  name         = each.value.name
  template_url = "${local.bucket}/${each.value.template}"
  capabilities = ["CAPABILITY_NAMED_IAM"]
  tags         = each.value.tags
  depends_on   = [aws_cloudformation_stack.service]
}

output "name" {
  value = local.written.name
}

output "outputs" {
  description = "Url, ApiUrl, PublishUrl, and in the first region ManagementUrl, ManagementSecret, Function and Role."
  value       = merge(concat([aws_cloudformation_stack.service.outputs], values(aws_cloudformation_stack.others)[*].outputs)...)
}

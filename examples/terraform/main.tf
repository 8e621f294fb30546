# The service in two regions, and an account of it with a schedule and a URL group: see docs/guides/terraform.md.
terraform {
  required_version = ">= 1.5"
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

provider "aws" {
  region = "eu-central-1"
}

provider "aws" {
  alias  = "us_east_1"
  region = "us-east-1"
}

# The first region. The others have replicas of its accounts.
module "eu_central_1" {
  source = "./region"
  folder = var.folder
  region = "eu-central-1"
}

module "us_east_1" {
  source     = "./region"
  folder     = var.folder
  region     = "us-east-1"
  providers  = { aws = aws.us_east_1 }
  depends_on = [module.eu_central_1]
}

# Accounts need the templates of svc-queue template --accounts.
module "shop" {
  source  = "./account"
  name    = "shop"
  service = module.eu_central_1
  fields  = { type = "paid", max_retries = 5 }

  # Accounts are in all regions.
  depends_on = [module.us_east_1]

  schedules = {
    daily = { cron = "0 6 * * *", destination = "https://example.com/report" }
  }
  url_groups = {
    orders = [{ url = "https://example.com/order" }, { url = "https://example.com/stock" }]
  }
}

output "urls" {
  value = [module.eu_central_1.outputs.Url, module.us_east_1.outputs.Url]
}

output "management_url" {
  value = module.eu_central_1.outputs.ManagementUrl
}

output "shop_secret" {
  description = "The ARN of the secret with QSTASH_URL, QSTASH_TOKEN and the signing keys."
  value       = module.shop.secret
}

//! The operations of `qstash-rs`. The program runs them side by side, and prints one line of JSON for each. The variables are those of
//! harness.ts.
mod receiver;

use qstash_rs::{
    BatchRequest, Client, Destination, DlqFilter, Endpoint, LogFilter, LogState, PublishRequest, PublishRequestBuilder, QueueUpsertRequest,
    Receiver, ReceiverConfig, ScheduleRequest, VerifyRequest,
};
use receiver::{Server, PATIENCE};
use serde_json::json;
use std::env;
use std::error::Error;
use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

type Outcome = Result<(), Box<dyn Error + Send + Sync>>;

const SOMEWHERE: &str = "https://example.com/hook";

struct World {
    client: Client,
    server: Server,
    is_own_account: bool,
}

fn want(is_so: bool, what: &str) -> Outcome {
    if is_so {
        Ok(())
    } else {
        Err(what.into())
    }
}

fn to(url: &str) -> Result<PublishRequestBuilder, qstash_rs::Error> {
    Ok(PublishRequest::builder(Destination::url(url)?))
}

fn unique(name: &str) -> String {
    format!("{name}-{}", std::process::id())
}

impl World {
    async fn published(&self, request: PublishRequest) -> Result<String, Box<dyn Error + Send + Sync>> {
        let answer = self.client.publish(request).await?;
        answer
            .into_iter()
            .next()
            .and_then(|message| message.message_id)
            .ok_or_else(|| "It has no id.".into())
    }

    /// Publishes what fails permanently, and returns the id of its dead letter.
    async fn dead_lettered(&self) -> Result<String, Box<dyn Error + Send + Sync>> {
        let id = self.published(to(&self.server.inbox(500).url)?.retries(0).build()).await?;
        let filter = DlqFilter {
            message_id: Some(id),
            ..DlqFilter::default()
        };
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            if let Some(letter) = self.client.dlq().list(&filter).await?.messages.into_iter().next() {
                return Ok(letter.dlq_id);
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        Err("There is no dead letter.".into())
    }
}

async fn publish(world: Arc<World>) -> Outcome {
    let inbox = world.server.inbox(200);
    let request = to(&inbox.url)?
        .method("PUT".parse()?)
        .header("X-Tenant", "acme")?
        .body("work")
        .build();
    world.published(request).await?;
    let came = inbox.next().await?;
    want(came.method == "PUT" && came.body == b"work", "It is another request.")?;
    want(
        came.headers.get("x-tenant").map(String::as_str) == Some("acme"),
        "The header is missing.",
    )
}

async fn publish_json(world: Arc<World>) -> Outcome {
    let inbox = world.server.inbox(200);
    world.client.publish_json(Destination::url(&inbox.url)?, &json!({ "n": 1 })).await?;
    want(inbox.next().await?.body == br#"{"n":1}"#, "It is another body.")
}

async fn callbacks(world: Arc<World>) -> Outcome {
    let (callback, failure) = (world.server.inbox(200), world.server.inbox(200));
    let id = world
        .published(to(&world.server.inbox(200).url)?.callback(&callback.url).build())
        .await?;
    want(
        String::from_utf8(callback.next().await?.body)?.contains(&id),
        "It is another message's.",
    )?;
    world
        .published(to(&world.server.inbox(500).url)?.retries(0).failure_callback(&failure.url).build())
        .await?;
    want(
        String::from_utf8(failure.next().await?.body)?.contains(r#""status":500"#),
        "It has no status.",
    )
}

async fn deduplication(world: Arc<World>) -> Outcome {
    let request = to(SOMEWHERE)?.delay_seconds(600).deduplication_id(unique("id")).build();
    world.published(request.clone()).await?;
    let again = world.client.publish(request).await?;
    want(
        again.first().and_then(|message| message.deduplicated) == Some(true),
        "It came twice.",
    )
}

async fn batch(world: Arc<World>) -> Outcome {
    let (inbox, queue) = (world.server.inbox(200), unique("batch"));
    let one = BatchRequest::new(to(&inbox.url)?.body("one").build());
    let two = BatchRequest::new(to(&inbox.url)?.body("two").build()).queue_name(&queue);
    let answers = world.client.batch([one, two]).await?;
    want(answers.iter().all(|message| message.message_id.is_some()), "An item failed.")?;
    inbox.next().await?;
    inbox.next().await?;
    Ok(world.client.queues().delete(&queue).await?)
}

async fn messages(world: Arc<World>) -> Outcome {
    let later = to(SOMEWHERE)?.delay_seconds(600).label("nightly").build();
    let (first, second) = (world.published(later.clone()).await?, world.published(later).await?);
    let shown = world.client.messages().get(&first).await?;
    want(shown.label.as_deref() == Some("nightly"), "It has another label.")?;
    world.client.messages().cancel(&first).await?;
    want(
        world.client.messages().cancel_many([second]).await?.cancelled == 1,
        "It was not cancelled.",
    )?;
    want(world.client.messages().get(&first).await.is_err(), "It is still there.")
}

async fn queues(world: Arc<World>) -> Outcome {
    let (inbox, name) = (world.server.inbox(200), unique("queue"));
    let queues = world.client.queues();
    queues
        .upsert(QueueUpsertRequest {
            queue_name: name.clone(),
            parallelism: 2,
        })
        .await?;
    queues.pause(&name).await?;
    want(queues.get(&name).await?.parallelism == 2, "It has another parallelism.")?;
    queues.resume(&name).await?;
    queues.enqueue(&name, to(&inbox.url)?.body("work").build()).await?;
    queues
        .enqueue_json(&name, Destination::url(&inbox.url)?, &json!({ "n": 1 }))
        .await?;
    want(inbox.next().await?.body == b"work", "The order is another.")?;
    inbox.next().await?;
    want(queues.list().await?.iter().any(|queue| queue.name == name), "It is not listed.")?;
    Ok(queues.delete(&name).await?)
}

async fn url_groups(world: Arc<World>) -> Outcome {
    let (inbox, name) = (world.server.inbox(200), unique("group"));
    let endpoint = |url: &str| Endpoint {
        name: None,
        url: url.to_owned(),
    };
    let groups = world.client.url_groups();
    groups.upsert_endpoints(&name, &[endpoint(&inbox.url), endpoint(SOMEWHERE)]).await?;
    groups.remove_endpoints(&name, &[endpoint(SOMEWHERE)]).await?;
    want(groups.get(&name).await?.endpoints.len() == 1, "It has more endpoints.")?;
    want(groups.list().await?.iter().any(|group| group.name == name), "It is not listed.")?;
    world
        .client
        .publish(PublishRequest::builder(Destination::url_group(&name)).body("to all").build())
        .await?;
    inbox.next().await?;
    Ok(groups.delete(&name).await?)
}

async fn schedules(world: Arc<World>) -> Outcome {
    let schedules = world.client.schedules();
    let request = ScheduleRequest::builder(Destination::url(SOMEWHERE)?, "0 0 29 2 *")
        .body("work")
        .retries(2)
        .build();
    let id = schedules.create(request).await?.schedule_id;
    schedules.pause(&id).await?;
    let shown = schedules.get(&id).await?;
    want(shown.is_paused && shown.retries == Some(2), "It is another schedule.")?;
    schedules.resume(&id).await?;
    want(schedules.list().await?.iter().any(|one| one.schedule_id == id), "It is not listed.")?;
    Ok(schedules.delete(&id).await?)
}

async fn dlq(world: Arc<World>) -> Outcome {
    let (first, second, third) = (
        world.dead_lettered().await?,
        world.dead_lettered().await?,
        world.dead_lettered().await?,
    );
    let dlq = world.client.dlq();
    want(dlq.get(&first).await?.response_status == Some(500), "It has another status.")?;
    want(dlq.retry(&first).await?.message_id.is_some(), "It was not retried.")?;
    dlq.delete(&second).await?;
    want(dlq.delete_many([third]).await?.deleted == 1, "It was not deleted.")
}

async fn logs(world: Arc<World>) -> Outcome {
    let id = world.published(to(&world.server.inbox(200).url)?.build()).await?;
    let filter = LogFilter {
        message_id: Some(id),
        state: Some(LogState::Delivered),
        ..LogFilter::default()
    };
    let until = Instant::now() + PATIENCE;
    while world.client.logs().list(&filter).await?.logs.is_empty() {
        want(Instant::now() < until, "It is not in the log.")?;
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Ok(())
}

async fn verify(world: Arc<World>) -> Outcome {
    // First, because another operation rotates them: a delivery is signed with one of these, before and after.
    let keys = world.client.signing_keys().get().await?;
    let inbox = world.server.inbox(200);
    world.published(to(&inbox.url)?.retries(1).body("work").build()).await?;
    let came = inbox.next().await?;
    let receiver = Receiver::new(ReceiverConfig {
        current_signing_key: keys.current,
        next_signing_key: keys.next,
    });
    let signature = came.headers.get("upstash-signature").ok_or("It is not signed.")?;
    let request = |body| VerifyRequest {
        signature,
        body,
        url: Some(&inbox.url),
        clock_tolerance_seconds: 0,
    };
    receiver.verify(request(b"work"))?;
    want(receiver.verify(request(b"other")).is_err(), "Another body was taken.")
}

async fn keys(world: Arc<World>) -> Outcome {
    if !world.is_own_account {
        return Err(SKIPPED.into());
    }
    let before = world.client.signing_keys().get().await?;
    let after = world.client.signing_keys().rotate().await?;
    want(after.current == before.next && after.next != before.next, "They are other keys.")
}

const SKIPPED: &str = "The receivers of the account would refuse its deliveries.";

async fn run(name: &'static str, operation: impl Future<Output = Outcome>) {
    let result = match operation.await {
        Ok(()) => json!({ "operation": name, "outcome": "passed" }),
        Err(error) if error.to_string() == SKIPPED => json!({ "operation": name, "outcome": "skipped", "reason": SKIPPED }),
        Err(error) => json!({ "operation": name, "outcome": "failed", "reason": format!("{error}: {error:?}") }),
    };
    println!("{result}");
}

#[tokio::main]
async fn main() -> Outcome {
    let world = Arc::new(World {
        client: Client::builder(env::var("CONFORMANCE_TOKEN")?)
            .base_url(env::var("CONFORMANCE_URL")?)
            .build()?,
        server: Server::start()?,
        is_own_account: env::var("CONFORMANCE_OWN_ACCOUNT").as_deref() == Ok("true"),
    });
    tokio::join!(
        run("publish", publish(world.clone())),
        run("publish_json", publish_json(world.clone())),
        run("publish; callback, failure_callback", callbacks(world.clone())),
        run("publish; deduplication_id", deduplication(world.clone())),
        run("batch", batch(world.clone())),
        run("messages.get, cancel, cancel_many", messages(world.clone())),
        run(
            "queues.upsert, get, list, pause, resume, enqueue, enqueue_json, delete",
            queues(world.clone())
        ),
        run(
            "url_groups.upsert_endpoints, get, list, remove_endpoints, delete",
            url_groups(world.clone())
        ),
        run("schedules.create, get, list, pause, resume, delete", schedules(world.clone())),
        run("dlq.list, get, retry, delete, delete_many", dlq(world.clone())),
        run("logs.list", logs(world.clone())),
        run("Receiver.verify", verify(world.clone())),
        run("signing_keys.get, rotate", keys(world.clone())),
    );
    Ok(())
}

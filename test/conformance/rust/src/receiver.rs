//! A server whose paths record what comes to them.
use std::collections::HashMap;
use std::env;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{channel, Receiver as Channel, Sender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

pub const PATIENCE: Duration = Duration::from_secs(120);

pub struct Delivery {
    pub method: String,
    /// By their names in lower case.
    pub headers: HashMap<String, String>,
    pub body: Vec<u8>,
}

pub struct Inbox {
    pub url: String,
    deliveries: Mutex<Channel<Delivery>>,
}

impl Inbox {
    pub async fn next(self: &Arc<Self>) -> Result<Delivery, String> {
        let inbox = self.clone();
        let wait = move || {
            inbox
                .deliveries
                .lock()
                .map_err(|error| error.to_string())?
                .recv_timeout(PATIENCE)
                .map_err(|error| error.to_string())
        };
        tokio::task::spawn_blocking(wait).await.map_err(|error| error.to_string())?
    }
}

type Inboxes = Arc<Mutex<HashMap<String, (u16, Sender<Delivery>)>>>;

pub struct Server {
    origin: String,
    inboxes: Inboxes,
    names: AtomicUsize,
}

impl Server {
    pub fn start() -> std::io::Result<Self> {
        let port = env::var("CONFORMANCE_RECEIVER_PORT").unwrap_or_else(|_| String::from("0"));
        let listener = TcpListener::bind(format!("127.0.0.1:{port}"))?;
        let own = format!("http://{}", listener.local_addr()?);
        let origin = env::var("CONFORMANCE_RECEIVER").unwrap_or(own);
        let inboxes = Inboxes::default();
        let all = inboxes.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let all = all.clone();
                thread::spawn(move || answer(stream, &all));
            }
        });
        Ok(Self {
            origin,
            inboxes,
            names: AtomicUsize::new(0),
        })
    }

    /// Opens a path that answers with a status.
    pub fn inbox(&self, status: u16) -> Arc<Inbox> {
        let name = format!("inbox-{}", self.names.fetch_add(1, Ordering::Relaxed));
        let (sender, deliveries) = channel();
        self.inboxes
            .lock()
            .expect("no thread panics with it")
            .insert(name.clone(), (status, sender));
        Arc::new(Inbox {
            url: format!("{}/{name}", self.origin),
            deliveries: Mutex::new(deliveries),
        })
    }
}

/// Reads the requests of a connection, and answers each.
fn answer(stream: TcpStream, inboxes: &Inboxes) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut writer = stream;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let mut parts = line.split_whitespace();
        let (method, target) = (parts.next()?.to_owned(), parts.next()?.to_owned());
        let mut headers = HashMap::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok()?;
            match line.trim_end().split_once(':') {
                Some((name, value)) => headers.insert(name.to_lowercase(), value.trim().to_owned()),
                None => break,
            };
        }
        let length = headers.get("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let found = inboxes.lock().ok()?.get(target.rsplit('/').next()?).cloned();
        let status = found.as_ref().map_or(404, |(status, _)| *status);
        if let Some((_, sender)) = found {
            let delivery = Delivery { method, headers, body };
            // Fails when nobody waits for what comes to this inbox; it is answered all the same.
            drop(sender.send(delivery));
        }
        write!(writer, "HTTP/1.1 {status} Answer\r\nContent-Length: 0\r\n\r\n").ok()?;
    }
}

package main

import (
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/upstash/qstash-go"
)

const somewhere = "https://example.com/hook"

var client = qstash.NewClientWith(qstash.Options{Url: url, Token: token})

var later = qstash.PublishOptions{Url: somewhere, Delay: "10m"}

func published(options qstash.PublishOptions) string {
	answer, err := client.Publish(options)
	check(err)
	return answer.MessageId
}

// deadLettered publishes what fails permanently, and returns the id of its dead letter.
func deadLettered() string {
	id := published(qstash.PublishOptions{Url: newInbox(500).url, Retries: qstash.RetryCount(0)})
	return eventually(func() (string, bool) {
		letters, _, err := client.Dlq().List(qstash.ListDlqOptions{Filter: qstash.DlqFilter{MessageId: id}})
		check(err)
		if len(letters) == 0 {
			return "", false
		}
		return letters[0].DlqId, true
	})
}

// endpoint is a name of the client's own tests.
const endpoint = "First endpoint"

// group makes a URL group with one endpoint.
func group(to string) string {
	name := unique("group")
	check(client.UrlGroups().UpsertEndpoints(name, []qstash.Endpoint{{Url: to, Name: endpoint}}))
	return name
}

var operations = map[string]func(){
	"NewClientWithEnv; finds QSTASH_URL and QSTASH_TOKEN": func() {
		check(os.Setenv("QSTASH_URL", url))
		check(os.Setenv("QSTASH_TOKEN", token))
		_, err := qstash.NewClientWithEnv().Publish(later)
		check(err)
	},
	"Publish": func() {
		to := newInbox(200)
		published(qstash.PublishOptions{
			Url: to.url, Method: "PUT", Body: "work", ContentType: "text/plain", Headers: map[string]string{"X-Tenant": "acme"},
		})
		came := to.next()
		want(came.method == "PUT" && came.body == "work", "It got %s %s.", came.method, came.body)
		want(came.header.Get("X-Tenant") == "acme", "The header is missing.")
	},
	"PublishJSON": func() {
		to := newInbox(200)
		_, err := client.PublishJSON(qstash.PublishJSONOptions{Url: to.url, Body: map[string]any{"n": 1}})
		check(err)
		came := to.next()
		want(came.body == `{"n":1}`, "It got %s.", came.body)
		want(came.header.Get("Content-Type") == "application/json", "It has another type.")
	},
	"Publish; Callback, FailureCallback": func() {
		callbacks, failures := newInbox(200), newInbox(200)
		id := published(qstash.PublishOptions{Url: newInbox(200).url, Callback: callbacks.url})
		want(strings.Contains(callbacks.next().body, id), "The callback is another's.")
		published(qstash.PublishOptions{
			Url: newInbox(500).url, Retries: qstash.RetryCount(0), FailureCallback: failures.url,
		})
		want(strings.Contains(failures.next().body, `"status":500`), "The callback has no status.")
	},
	"Publish; NotBefore, Timeout, Retries": func() {
		due := time.Now().Add(time.Hour).Unix()
		id := published(qstash.PublishOptions{
			Url: somewhere, NotBefore: strconv.FormatInt(due, 10), Timeout: "20s", Retries: qstash.RetryCount(2),
		})
		message, err := client.Messages().Get(id)
		check(err)
		want(message.NotBefore == due*1000 && message.MaxRetries == 2, "It is %+v.", message)
	},
	"Publish; DeduplicationId, ContentBasedDeduplication": func() {
		for _, options := range []qstash.PublishOptions{
			{Url: somewhere, Delay: "10m", DeduplicationId: unique("id")},
			{Url: somewhere, Delay: "10m", Body: unique("work"), ContentBasedDeduplication: true},
		} {
			first := published(options)
			again, err := client.Publish(options)
			check(err)
			want(again.Deduplicated && again.MessageId == first, "It is %+v.", again)
		}
	},
	"Enqueue, EnqueueJSON": func() {
		to, queue := newInbox(200), unique("queue")
		_, err := client.Enqueue(qstash.EnqueueOptions{
			Queue: queue, PublishOptions: qstash.PublishOptions{Url: to.url, Body: "one"},
		})
		check(err)
		_, err = client.EnqueueJSON(qstash.EnqueueJSONOptions{
			Queue: queue, PublishJSONOptions: qstash.PublishJSONOptions{Url: to.url, Body: map[string]any{"n": 2}},
		})
		check(err)
		want(to.next().body == "one" && to.next().body == `{"n":2}`, "The order is another.")
		check(client.Queues().Delete(queue))
	},
	"Batch, BatchJSON": func() {
		to, queue := newInbox(200), unique("queue")
		answers, err := client.Batch([]qstash.BatchOptions{
			{Url: to.url, Body: "work"},
			{Url: to.url, Body: "work", Queue: queue, Headers: map[string]string{"X-Tenant": "acme"}},
			{UrlGroup: group(to.url), Body: "work"},
		})
		check(err)
		want(len(answers) == 3 && answers[0][0].MessageId != "", "The answers are %+v.", answers)
		_, err = client.BatchJSON([]qstash.BatchJSONOptions{{Url: to.url, Body: map[string]any{"n": 1}}})
		check(err)
		for range 4 {
			to.next()
		}
		check(client.Queues().Delete(queue))
	},
	"Messages.Get, Cancel, CancelMany": func() {
		first, second := published(later), published(later)
		message, err := client.Messages().Get(first)
		check(err)
		want(message.Url == somewhere, "It is %+v.", message)
		check(client.Messages().Cancel(first))
		count, err := client.Messages().CancelMany([]string{second})
		check(err)
		want(count == 1, "%d were cancelled.", count)
		_, err = client.Messages().Get(first)
		want(err != nil, "It is still there.")
	},
	"UrlGroups.UpsertEndpoints, Get, List, RemoveEndpoints, Delete": func() {
		name := group(somewhere)
		check(client.UrlGroups().UpsertEndpoints(name, []qstash.Endpoint{{Url: somewhere + "/2"}}))
		check(client.UrlGroups().RemoveEndpoints(name, []qstash.Endpoint{{Url: somewhere + "/2"}}))
		shown, err := client.UrlGroups().Get(name)
		check(err)
		want(len(shown.Endpoints) == 1 && shown.Endpoints[0].Name == endpoint, "It is %+v.", shown)
		all, err := client.UrlGroups().List()
		check(err)
		want(len(all) > 0, "The list is empty.")
		check(client.UrlGroups().Delete(name))
	},
	"UrlGroups.Publish, PublishJSON, Enqueue, EnqueueJSON": func() {
		to, queue := newInbox(200), unique("queue")
		name := group(to.url)
		json := qstash.PublishUrlGroupJSONOptions{UrlGroup: name, Body: map[string]any{"n": 1}}
		text := qstash.PublishUrlGroupOptions{UrlGroup: name, Body: "work"}
		_, err := client.UrlGroups().Publish(text)
		check(err)
		_, err = client.UrlGroups().PublishJSON(json)
		check(err)
		_, err = client.UrlGroups().Enqueue(qstash.EnqueueUrlGroupOptions{Queue: queue, PublishUrlGroupOptions: text})
		check(err)
		_, err = client.UrlGroups().EnqueueJSON(
			qstash.EnqueueUrlGroupJSONOptions{Queue: queue, PublishUrlGroupJSONOptions: json},
		)
		check(err)
		for range 4 {
			to.next()
		}
		check(client.Queues().Delete(queue))
		check(client.UrlGroups().Delete(name))
	},
	"UrlGroups.Publish; a group that does not exist, or has no name": func() {
		name := unique("none")
		for group, says := range map[string]string{
			name: "topic " + name + " not found",
			"":   "a non-empty destination must be provided",
		} {
			_, err := client.UrlGroups().Publish(qstash.PublishUrlGroupOptions{UrlGroup: group, Body: "work"})
			want(err != nil && strings.Contains(err.Error(), says), "It says %v.", err)
		}
	},
	"Queues.Upsert, Get, List, Pause, Resume, Delete": func() {
		name := unique("queue")
		check(client.Queues().Upsert(qstash.Queue{Name: name, Parallelism: 2}))
		check(client.Queues().Pause(name))
		shown, err := client.Queues().Get(name)
		check(err)
		want(shown.Parallelism == 2 && shown.IsPaused, "It is %+v.", shown)
		check(client.Queues().Resume(name))
		all, err := client.Queues().List()
		check(err)
		want(len(all) > 0, "The list is empty.")
		check(client.Queues().Delete(name))
	},
	"Schedules.Create, CreateJSON, Get, List, Pause, Resume, Delete": func() {
		first, err := client.Schedules().Create(qstash.ScheduleOptions{
			Destination: somewhere, Cron: "0 0 29 2 *", Body: "work", Retries: qstash.RetryCount(2),
		})
		check(err)
		second, err := client.Schedules().CreateJSON(qstash.ScheduleJSONOptions{
			Destination: somewhere, Cron: "0 0 29 2 *", Body: map[string]any{"n": 1},
		})
		check(err)
		check(client.Schedules().Pause(first))
		shown, err := client.Schedules().Get(first)
		check(err)
		want(shown.Body == "work" && shown.Retries == 2 && shown.IsPaused, "It is %+v.", shown)
		check(client.Schedules().Resume(first))
		all, err := client.Schedules().List()
		check(err)
		want(len(all) >= 2, "The list is %+v.", all)
		check(client.Schedules().Delete(first))
		check(client.Schedules().Delete(second))
	},
	"Dlq.List, Get, Delete, DeleteMany": func() {
		first, second := deadLettered(), deadLettered()
		letter, err := client.Dlq().Get(first)
		check(err)
		want(letter.DlqId == first && letter.ResponseStatus == 500, "It is %+v.", letter)
		check(client.Dlq().Delete(first))
		count, err := client.Dlq().DeleteMany([]string{second})
		check(err)
		want(count == 1, "%d were deleted.", count)
	},
	"Events.List": func() {
		id := published(qstash.PublishOptions{Url: newInbox(200).url})
		eventually(func() (bool, bool) {
			events, _, err := client.Events().List(qstash.ListEventsOptions{
				Filter: qstash.EventFilter{MessageId: id, State: qstash.Delivered},
			})
			check(err)
			return true, len(events) == 1
		})
	},
	"Events.List; 1,000 entries without a count": func() {
		to := newInbox(500)
		go func() {
			for range to.deliveries {
			}
		}()
		// Each has four entries, from CREATED to FAILED.
		failing := make([]qstash.BatchOptions, 250)
		for i := range failing {
			failing[i] = qstash.BatchOptions{Url: to.url, Body: "work", Retries: qstash.RetryCount(0)}
		}
		_, err := client.Batch(failing)
		check(err)
		eventually(func() (bool, bool) {
			events, _, err := client.Events().List(qstash.ListEventsOptions{Filter: qstash.EventFilter{Url: to.url}})
			check(err)
			return true, len(events) == 1000
		})
	},
	"Receiver.Verify": func() {
		// First, because another operation rotates them: a delivery is signed with one of these, before and after.
		keys, err := client.Keys().Get()
		check(err)
		to := newInbox(200)
		published(qstash.PublishOptions{Url: to.url, Body: "work", Retries: qstash.RetryCount(1)})
		came := to.next()
		receiver := qstash.NewReceiver(keys.Current, keys.Next)
		signature := came.header.Get("Upstash-Signature")
		check(receiver.Verify(qstash.VerifyOptions{Signature: signature, Url: to.url, Body: "work"}))
		err = receiver.Verify(qstash.VerifyOptions{Signature: signature, Url: to.url, Body: "other"})
		want(err != nil, "Another body was taken.")
	},
	"Keys.Get, Rotate": func() {
		if os.Getenv("CONFORMANCE_OWN_ACCOUNT") != "true" {
			panic(skipped("The receivers of the account would refuse its deliveries."))
		}
		before, err := client.Keys().Get()
		check(err)
		after, err := client.Keys().Rotate()
		check(err)
		want(after.Current == before.Next && after.Next != before.Next, "It is %+v.", after)
	},
}

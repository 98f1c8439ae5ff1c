package dev.isola.app.servers;

import dev.isola.app.servers.Observations.Event;
import dev.isola.codec.json.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Reads all events from the beginning, and resumes after the last one when a server leaves. */
final class EventFeedReader implements AutoCloseable {
  private final TrafficClient client;
  private final List<Event> seen = new ArrayList<>();
  private final AtomicReference<@Nullable InputStream> open = new AtomicReference<>();
  private final Thread thread = Thread.ofVirtual().name("event-reader").unstarted(this::follow);
  private volatile String position = "0";
  private volatile boolean ended;

  EventFeedReader(TrafficClient client) {
    this.client = client;
    thread.start();
  }

  private void follow() {
    while (!ended) {
      try {
        read();
      } catch (IOException | RuntimeException e) {
        client.count("event stream lost");
      } catch (InterruptedException e) {
        return;
      }
      try {
        TrafficClient.pause();
      } catch (InterruptedException e) {
        return;
      }
    }
  }

  private void read() throws IOException, InterruptedException {
    HttpResponse<InputStream> response =
        client.open(
            client
                .request("/api/v1/events")
                .header("Last-Event-ID", position)
                .header("Accept", "text/event-stream")
                .GET()
                .build());
    try (InputStream body = response.body()) {
      open.set(body);
      if (response.statusCode() != 200) {
        client.count("event stream " + response.statusCode());
        return;
      }
      BufferedReader lines =
          new BufferedReader(new InputStreamReader(body, StandardCharsets.UTF_8));
      String id = position;
      String data = "";
      for (String line = lines.readLine(); line != null && !ended; line = lines.readLine()) {
        if (line.startsWith("id: ")) {
          id = line.substring(4);
        } else if (line.startsWith("data: ")) {
          data = line.substring(6);
        } else if (line.isEmpty()) {
          if (!data.isEmpty()) {
            add(event(Json.parseObject(data)));
            data = "";
          }
          position = id;
        }
      }
    } finally {
      open.set(null);
    }
  }

  static Event event(Map<String, Object> json) {
    return new Event(
        Long.parseLong(String.valueOf(json.get("number"))),
        String.valueOf(json.get("type")),
        String.valueOf(json.getOrDefault("sandbox", "")));
  }

  private synchronized void add(Event event) {
    seen.add(event);
  }

  synchronized List<Event> seen() {
    return List.copyOf(seen);
  }

  long lastNumber() {
    return Long.parseLong(position);
  }

  @Override
  public void close() throws IOException {
    ended = true;
    InputStream body = open.get();
    if (body != null) {
      body.close();
    }
    thread.interrupt();
  }
}

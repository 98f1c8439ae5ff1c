package dev.isola.server.api;

import dev.isola.server.content.OutputFeed;
import dev.isola.server.route.Exchange;
import dev.isola.spi.Bytes;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.exec.Output;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/** Streams the output of an execution as server-sent events. */
record OutputEvents(Execution execution, OutputFeed feed) {
  private static final Duration POLL_INTERVAL = Duration.ofMillis(500);

  /** Text with more than one control character in this number is sent as base64. */
  private static final int CONTROL_CHARACTERS_SHARE = 16;

  /** Sends output until the command ends, the client disconnects or the server shuts down. */
  void follow(Exchange exchange, long from) throws IOException {
    long offset = from;
    try (SseResponse sse = SseResponse.begin(exchange)) {
      long lastSent = System.nanoTime();
      while (!exchange.isShuttingDown()) {
        switch (feed.next(POLL_INTERVAL)) {
          case null -> {
            if (System.nanoTime() - lastSent > SseResponse.KEEPALIVE_INTERVAL.toNanos()) {
              sse.sendKeepalive();
              lastSent = System.nanoTime();
            }
          }
          case OutputFeed.Item.Piece(Output output) -> {
            offset = output.end();
            send(sse, output);
            lastSent = System.nanoTime();
          }
          case OutputFeed.Item.End(Exit exit) -> {
            Map<String, Object> data = JsonViews.exit(exit);
            data.put("exitCode", exit.shellCode());
            data.put("durationMs", execution.duration().toMillis());
            sse.send("exit", Long.toString(offset), data);
            return;
          }
          case OutputFeed.Item.Failed(SandboxException why) -> {
            Map<String, Object> data = new LinkedHashMap<>();
            data.put("code", why.code().name());
            data.put("detail", why.fault().problem());
            data.put("remedy", why.fault().remedy());
            sse.send("error", Long.toString(offset), data);
            return;
          }
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // the server is shutting down
    }
  }

  /** JSON has six characters for most control characters; base64 is shorter if there are many. */
  private static boolean isLongInJson(String text) {
    return text.chars().filter(c -> c < ' ' && c != '\n' && c != '\r' && c != '\t').count()
        > text.length() / CONTROL_CHARACTERS_SHARE;
  }

  private static void send(SseResponse sse, Output output) throws IOException {
    Map<String, Object> data = new LinkedHashMap<>();
    data.put("offset", output.offset());
    switch (output) {
      case Output.Data piece -> {
        data.put("channel", JsonViews.wireName(piece.channel()));
        data.put("at", piece.at().toString());
        String text = piece.bytes().utf8();
        boolean plain = !isLongInJson(text) && Bytes.utf8(text).equals(piece.bytes());
        data.put("encoding", plain ? "utf8" : "base64");
        data.put("data", plain ? text : piece.bytes().base64());
        sse.send("output", Long.toString(output.end()), data);
      }
      case Output.Gap gap -> {
        data.put("lost", gap.lost());
        sse.send("gap", Long.toString(output.end()), data);
      }
    }
  }
}

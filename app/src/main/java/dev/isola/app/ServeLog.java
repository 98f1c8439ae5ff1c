package dev.isola.app;

import dev.isola.engine.Log;
import dev.isola.server.AccessLog;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/** The log of a server: one JSON object a line. */
final class ServeLog implements Log, AccessLog {
  private final OutputStream out;
  private final InstantSource clock;
  private final ReentrantLock lock = new ReentrantLock();

  ServeLog(OutputStream out, InstantSource clock) {
    this.out = out;
    this.clock = clock;
  }

  @Override
  public void info(String sentence) {
    say("info", sentence);
  }

  @Override
  public void warning(String sentence) {
    say("warning", sentence);
  }

  private void say(String level, String sentence) {
    Map<String, Object> line = begun(level);
    line.put("message", sentence);
    write(line);
  }

  @Override
  public void write(Line request) {
    Map<String, Object> line = begun("request");
    line.put("method", request.method());
    line.put("route", request.route());
    line.put("status", request.status());
    line.put("ms", request.millis());
    line.put("requestId", request.requestId());
    line.put("key", request.key());
    write(line);
  }

  private Map<String, Object> begun(String level) {
    Map<String, Object> line = new LinkedHashMap<>();
    line.put("at", clock.instant().toString());
    line.put("level", level);
    return line;
  }

  private void write(Map<String, Object> line) {
    byte[] text = (Json.text(line) + "\n").getBytes(StandardCharsets.UTF_8);
    lock.lock();
    try {
      out.write(text);
      out.flush();
    } catch (IOException e) {
      // Nobody reads the log; that is no reason to stop serving.
    } finally {
      lock.unlock();
    }
  }
}

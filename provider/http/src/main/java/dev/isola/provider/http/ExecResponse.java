package dev.isola.provider.http;

import dev.isola.provider.http.client.BackendDocument;
import dev.isola.spi.Bytes;
import dev.isola.spi.exec.Channel;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.exec.Output;
import dev.isola.spi.exec.Signal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

/** The end of a command and all of its output. */
record ExecResponse(Exit exit, List<Output> output, Duration duration) {

  static ExecResponse parse(BackendDocument json, Duration timeout, int limit) {
    List<Output> output = new ArrayList<>();
    long offset = add(output, 0, json, Channel.STDOUT, "stdout", limit);
    add(output, offset, json, Channel.STDERR, "stderr", limit);
    return new ExecResponse(
        exit(json, timeout), output, Duration.ofMillis(json.count("durationMs")));
  }

  private static long add(
      List<Output> output,
      long offset,
      BackendDocument json,
      Channel channel,
      String name,
      int limit) {
    byte[] bytes;
    try {
      bytes = Base64.getDecoder().decode(json.text(name));
    } catch (IllegalArgumentException e) {
      throw json.malformed("the field " + name + " is not base64");
    }
    if (bytes.length > limit) {
      throw json.malformed("the field " + name + " is longer than the limit of " + limit);
    }
    long end = offset;
    if (bytes.length > 0) {
      output.add(new Output.Data(channel, end, Instant.now(), Bytes.wrap(bytes)));
      end += bytes.length;
    }
    long dropped = json.optionalCount(name + "Dropped").orElse(0);
    if (dropped > 0) {
      output.add(new Output.Gap(end, dropped));
      end += dropped;
    }
    return end;
  }

  private static Exit exit(BackendDocument json, Duration timeout) {
    boolean timedOut = json.flag("timedOut", false);
    int ways = (timedOut ? 1 : 0) + (json.has("exitCode") ? 1 : 0) + (json.has("signal") ? 1 : 0);
    if (ways != 1) {
      throw json.malformed("it needs one of exitCode, signal and timedOut, and has " + ways);
    }
    if (timedOut) {
      return new Exit.TimedOut(timeout);
    }
    return json.has("signal")
        ? new Exit.Signaled(new Signal(inRange(json, "signal", 1, 64)))
        : new Exit.Exited(inRange(json, "exitCode", 0, 255));
  }

  private static int inRange(BackendDocument json, String name, int least, int most) {
    long value = json.count(name);
    if (value < least || value > most) {
      throw json.malformed("the field " + name + " is not between " + least + " and " + most);
    }
    return (int) value;
  }
}

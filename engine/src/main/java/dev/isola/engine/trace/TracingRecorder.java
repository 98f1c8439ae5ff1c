package dev.isola.engine.trace;

import dev.isola.engine.metrics.Cargo;
import dev.isola.engine.metrics.Deed;
import dev.isola.engine.metrics.Direction;
import dev.isola.engine.metrics.Ending;
import dev.isola.engine.metrics.Recorder;
import dev.isola.spi.error.ErrorCode;
import java.util.Locale;
import java.util.Map;

/** Makes spans of what is recorded; it is told on the thread that did it, right afterwards. */
record TracingRecorder(Recorder recorder, Traces traces) implements Recorder {
  @Override
  public void spawned(String provider, boolean warm, boolean good, long nanos) {
    traces.did("spawn", nanos, good, Map.of("provider", provider, "start", warm ? "warm" : "cold"));
    recorder.spawned(provider, warm, good, nanos);
  }

  @Override
  public void did(Deed deed, String provider, boolean good, long nanos) {
    traces.did(word(deed), nanos, good, Map.of("provider", provider));
    recorder.did(deed, provider, good, nanos);
  }

  @Override
  public void started(String provider) {
    recorder.started(provider);
  }

  @Override
  public void ended(String provider, Ending how, long nanos) {
    // A command that fails is a result; one that is lost is not.
    traces.did(
        "execution", nanos, how != Ending.LOST, Map.of("provider", provider, "outcome", word(how)));
    recorder.ended(provider, how, nanos);
  }

  @Override
  public void transferred(String provider, Direction direction, boolean good, long nanos) {
    traces.did(
        "file_transfer", nanos, good, Map.of("provider", provider, "direction", word(direction)));
    recorder.transferred(provider, direction, good, nanos);
  }

  @Override
  public void moved(String provider, Cargo cargo, Direction direction, long bytes) {
    recorder.moved(provider, cargo, direction, bytes);
  }

  @Override
  public void answered(String method, String route, int status, long nanos) {
    recorder.answered(method, route, status, nanos);
  }

  @Override
  public void kept(String provider, long bytes, long newBytes, long storedBytes) {
    recorder.kept(provider, bytes, newBytes, storedBytes);
  }

  @Override
  public void failed(Deed deed, ErrorCode code) {
    recorder.failed(deed, code);
  }

  private static String word(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }
}

package dev.isola.engine.metrics;

import dev.isola.spi.error.ErrorCode;

/** For an engine that nobody watches. */
final class NoRecorder implements Recorder {
  @Override
  public void spawned(String provider, boolean warm, boolean good, long nanos) {}

  @Override
  public void did(Deed deed, String provider, boolean good, long nanos) {}

  @Override
  public void started(String provider) {}

  @Override
  public void ended(String provider, Ending how, long nanos) {}

  @Override
  public void transferred(String provider, Direction direction, boolean good, long nanos) {}

  @Override
  public void moved(String provider, Cargo cargo, Direction direction, long bytes) {}

  @Override
  public void answered(String method, String route, int status, long nanos) {}

  @Override
  public void kept(String provider, long bytes, long newBytes, long storedBytes) {}

  @Override
  public void failed(Deed deed, ErrorCode code) {}
}

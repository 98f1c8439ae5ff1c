package dev.isola.engine.metrics;

import dev.isola.spi.error.ErrorCode;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Writes down what it is told, without the times. */
final class FakeRecorder implements Recorder {
  final List<String> told = new CopyOnWriteArrayList<>();

  @Override
  public void spawned(String provider, boolean warm, boolean good, long nanos) {
    told.add("spawned " + provider + " warm=" + warm + " good=" + good);
  }

  @Override
  public void did(Deed deed, String provider, boolean good, long nanos) {
    told.add("did " + deed + " " + provider + " good=" + good);
  }

  @Override
  public void started(String provider) {
    told.add("started " + provider);
  }

  @Override
  public void ended(String provider, Ending how, long nanos) {
    told.add("ended " + provider + " " + how);
  }

  @Override
  public void transferred(String provider, Direction direction, boolean good, long nanos) {
    told.add("transferred " + provider + " " + direction + " good=" + good);
  }

  @Override
  public void moved(String provider, Cargo cargo, Direction direction, long bytes) {
    told.add("moved " + provider + " " + cargo + " " + direction + " " + bytes);
  }

  @Override
  public void answered(String method, String route, int status, long nanos) {
    told.add("answered " + method + " " + route + " " + status);
  }

  @Override
  public void kept(String provider, long bytes, long newBytes, long storedBytes) {
    told.add("kept " + provider + " " + bytes + " " + newBytes + " " + storedBytes);
  }

  @Override
  public void failed(Deed deed, ErrorCode code) {
    told.add("failed " + deed + " " + code);
  }
}

package dev.isola.provider.http;

import static dev.isola.provider.http.client.BackendAddress.encode;

import dev.isola.provider.http.client.BackendCall;
import dev.isola.provider.http.client.BackendDocument;
import dev.isola.provider.http.client.BackendStream;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Snapshotting;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.file.TreeLimits;
import dev.isola.spi.file.TreeSummary;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Captures folders and restores through the agent. What a sandbox wrote is captured by the backend,
 * because only the backend knows it.
 */
record BackendSnapshotting(Snapshotting agent, Backend backend, SandboxId id)
    implements Snapshotting {
  private static final Duration TIMEOUT = Duration.ofSeconds(60);

  /** Commands may have to be frozen before the first byte. */
  private static final Duration BEGIN_TIMEOUT = Duration.ofMinutes(5);

  @Override
  public Capture capture(CaptureRequest request) {
    if (request.written().isEmpty()) {
      return agent.capture(request);
    }
    Coverage coverage = request.written().get();
    Map<String, Object> body = new LinkedHashMap<>();
    coverage.image().ifPresent(image -> body.put("image", image));
    body.put("folders", coverage.folders());
    body.put("since", request.since());
    body.put("freeze", request.freeze());
    body.put("sparse", request.sparse());
    BackendStream stream =
        backend.client().stream(
            BackendCall.tar("capture", "POST", backend.path(id) + "/captures").sending(body),
            "Isola-Capture-Id",
            BEGIN_TIMEOUT);
    return new StreamedCapture(backend, stream);
  }

  /** The result is asked for after the end of the archive. */
  private record StreamedCapture(Backend backend, BackendStream archive) implements Capture {
    @Override
    public CaptureResult result() {
      String capture = archive.header().orElse("");
      BackendDocument json =
          backend
              .client()
              .document(
                  BackendCall.get("result of a capture", "/v1/captures/" + encode(capture)),
                  TIMEOUT);
      return new CaptureResult(json.count("capturedAt"), Duration.ofMillis(json.count("frozenMs")));
    }

    @Override
    public void close() {
      try {
        archive.close();
      } catch (IOException e) {
        throw Fault.of(
                ErrorCode.PROVIDER_UNAVAILABLE,
                "a capture could not be ended: " + e.getMessage(),
                "try again")
            .exception(e);
      }
    }
  }

  @Override
  public Optional<Coverage> coverage() {
    return backend.find(id).flatMap(BackendSandbox::coverage);
  }

  @Override
  public TreeSummary restoreChanges(InputStream archive, TreeLimits limits) {
    return agent.restoreChanges(archive, limits);
  }

  @Override
  public TreeSummary restore(String path, InputStream archive, TreeLimits limits) {
    return agent.restore(path, archive, limits);
  }
}

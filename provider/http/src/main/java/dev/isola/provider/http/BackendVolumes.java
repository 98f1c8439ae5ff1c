package dev.isola.provider.http;

import static dev.isola.provider.http.client.BackendAddress.encode;

import dev.isola.provider.http.client.BackendCall;
import dev.isola.provider.http.client.BackendCall.Effect;
import dev.isola.spi.capability.Volumes;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.spec.VolumeMount;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The named volumes of this installation at the backend.
 *
 * @param provider the kind of sandboxes that mount them
 */
record BackendVolumes(Backend backend, Optional<String> provider) implements Volumes {
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final int LIST = 4 << 20;

  @Override
  public void create(String name) {
    String query = provider.map(kind -> "&provider=" + encode(kind)).orElse("");
    backend
        .client()
        .send(BackendCall.of("volume", "PUT", path(name) + query, Effect.IDEMPOTENT), TIMEOUT);
  }

  @Override
  public List<String> list() {
    return backend
        .client()
        .document(BackendCall.get("volumes", "/v1/volumes" + instance(), LIST), TIMEOUT)
        .texts("volumes")
        .stream()
        .filter(VolumeMount::isValidName)
        .sorted()
        .toList();
  }

  @Override
  public void destroy(String name) {
    backend
        .client()
        .send(
            BackendCall.of("removal of a volume", "DELETE", path(name), Effect.IDEMPOTENT),
            TIMEOUT);
  }

  private String path(String name) {
    if (!VolumeMount.isValidName(name)) {
      throw Fault.of(
              ErrorCode.INVALID_REQUEST,
              "the name of the volume is invalid",
              "use letters, digits and . _ -")
          .exception();
    }
    return "/v1/volumes/" + encode(name) + instance();
  }

  private String instance() {
    return "?instance=" + encode(backend.ids().instance().value());
  }
}

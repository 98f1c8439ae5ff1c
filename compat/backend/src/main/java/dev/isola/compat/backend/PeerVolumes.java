package dev.isola.compat.backend;

import dev.isola.codec.digest.Sha256;
import dev.isola.engine.api.VolumeView;
import dev.isola.engine.api.volume.VolumeService;
import dev.isola.server.context.ServerContext;
import dev.isola.spi.error.Conflict;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.NotFound;
import dev.isola.spi.spec.VolumeMount;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The named volumes of peers. The names here begin with a mark of the peer's installation. */
record PeerVolumes(ServerContext context) {
  private static final String NO_TENANT = "";
  private static final int MARK_BYTES = 8;

  /** Creates a volume; does nothing if it exists. */
  void create(String instance, String name, String provider) {
    String own = ownName(instance, name);
    VolumeService volumes = context.engine().volumes();
    try {
      VolumeView _ = volumes.create(NO_TENANT, own, provider);
    } catch (Conflict e) {
      VolumeView _ = volumes.get(NO_TENANT, own); // throws if something else is the conflict
    }
  }

  List<String> list(String instance) {
    String prefix = prefix(instance);
    return context.engine().volumes().list(NO_TENANT).stream()
        .map(VolumeView::name)
        .filter(name -> name.startsWith(prefix))
        .map(name -> name.substring(prefix.length()))
        .toList();
  }

  /** Removes a volume; does nothing if it does not exist. */
  void remove(String instance, String name) {
    try {
      context.engine().volumes().remove(NO_TENANT, ownName(instance, name));
    } catch (NotFound e) {
      // Already in the requested state.
    }
  }

  /**
   * Replaces the names of volumes in the document of a spec, and creates those that do not exist.
   */
  void prepare(String instance, String provider, Map<String, Object> document) {
    if (!(document.get("volumes") instanceof List<?> mounts)) {
      return;
    }
    List<Object> renamed = new ArrayList<>();
    for (Object mount : mounts) {
      if (mount instanceof Map<?, ?> fields
          && "volume".equals(fields.get("type"))
          && fields.get("source") instanceof String name) {
        create(instance, name, provider);
        Map<Object, Object> copy = new LinkedHashMap<>(fields);
        copy.put("source", ownName(instance, name));
        renamed.add(copy);
      } else {
        renamed.add(mount);
      }
    }
    document.put("volumes", renamed);
  }

  private static String ownName(String instance, String name) {
    String own = prefix(instance) + name;
    if (!VolumeMount.isValidName(name) || !VolumeMount.isValidName(own)) {
      throw Fault.of(
              ErrorCode.INVALID_REQUEST,
              "the name of a volume is invalid or too long",
              "use letters, digits and . _ -, at most 100 of them")
          .exception();
    }
    return own;
  }

  private static String prefix(String instance) {
    return "peer-" + HexFormat.of().formatHex(Sha256.of(instance), 0, MARK_BYTES) + ".";
  }
}

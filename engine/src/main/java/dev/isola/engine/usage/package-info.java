/** Usage monitoring: samples the resource usage of sandboxes and warns close to a limit. */
@NullMarked
package dev.isola.engine.usage;

import org.jspecify.annotations.NullMarked;

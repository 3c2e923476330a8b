// adec decodes a recording: the best audio stream of whatever container it is,
// as 16 kHz mono samples of 16 bits. It is a WASI reactor around FFmpeg's
// libraries, and has no files: read and write are all that it reaches. Nothing
// is freed that ends with the instance, which serves one recording.

#include <libavcodec/avcodec.h>
#include <libavfilter/avfilter.h>
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#include <libavformat/avformat.h>
#include <libavutil/avstring.h>
#include <libavutil/channel_layout.h>
#include <libavutil/mem.h>
#include <stdio.h>
#include <string.h>

#define IMPORT(name) __attribute__((import_module("audio"), import_name(name)))
#define EXPORT(name) __attribute__((export_name(name)))

// host_read copies what the recording has at offset, at most size bytes; less
// than that, and 0, only at its end.
IMPORT("read") int host_read(int64_t offset, uint8_t *buf, int size);

// host_write takes samples. Anything but 0 says that these are enough.
IMPORT("write") int host_write(const int16_t *samples, int count);

// How a decoding ended; run.go has the same.
enum status {
    DONE = 0,
    UNKNOWN_FORMAT = 1, // no container that is known, or damaged from the start
    NO_AUDIO = 2,       // no audio stream in it
    UNKNOWN_CODEC = 3,  // an audio stream that cannot be decoded
    ENOUGH = 4,         // host_write said so
    NO_MEMORY = 5,
    BAD_FILTERS = 6, // no graph of filters can be made for the stream
};

// report is what was found; run.go reads it by these offsets.
static struct {
    int64_t samples; // written
    int64_t packets; // of the stream
    int64_t bad;     // packets and frames that could not be decoded
    int32_t rate;    // of the source
    int32_t channels;
    char container[64];
    char codec[64];
} report;

EXPORT("report") void *report_address(void) { return &report; }

// denoise holds further filters, "" or a filter graph's text after a comma.
static char denoise[256];

EXPORT("denoise") void *denoise_address(void) { return denoise; }

enum { RATE = 16000 };

// Damage can make a demuxer fail forever without coming to the end.
enum { MOST_READ_ERRORS = 256 };

struct recording {
    int64_t size, position;
};

static int read_recording(void *opaque, uint8_t *buf, int size) {
    struct recording *r = opaque;
    int n = host_read(r->position, buf, size);
    if (n <= 0)
        return AVERROR_EOF;
    r->position += n;
    return n;
}

static int64_t seek_recording(void *opaque, int64_t offset, int whence) {
    struct recording *r = opaque;
    switch (whence & ~AVSEEK_FORCE) {
    case AVSEEK_SIZE:
        return r->size;
    case SEEK_SET:
        if (offset >= 0)
            return r->position = offset;
    }
    return AVERROR(EINVAL);
}

// open_nothing keeps demuxers from following references to other files.
static int open_nothing(AVFormatContext *f, AVIOContext **io, const char *url, int flags, AVDictionary **options) {
    return AVERROR(EACCES);
}

static void log_nothing(void *context, int level, const char *format, va_list arguments) {}

// decoding is a recording on its way: stream → codec → source → filters → sink.
struct decoding {
    AVFormatContext *format;
    AVCodecContext *codec;
    int stream;
    AVPacket *packet;
    AVFrame *frame;    // decoded
    AVFrame *filtered; // to be written

    AVFilterGraph *graph; // for frames of the form that follows; NULL before the first
    AVFilterContext *source, *sink;
    int rate, sample_format;
    AVChannelLayout layout;
};

// status_of is that of an error, otherwise other.
static enum status status_of(int error, enum status other) {
    return error == AVERROR(ENOMEM) ? NO_MEMORY : other;
}

static enum status open_container(struct decoding *d, int64_t size) {
    enum { BUFFER = 32 << 10 };
    struct recording *r = av_mallocz(sizeof *r);
    uint8_t *buffer = av_malloc(BUFFER);
    d->format = avformat_alloc_context();
    if (!r || !buffer || !d->format)
        return NO_MEMORY;
    r->size = size;
    d->format->pb = avio_alloc_context(buffer, BUFFER, 0, r, read_recording, NULL, seek_recording);
    if (!d->format->pb)
        return NO_MEMORY;
    d->format->io_open = open_nothing;
    int error = avformat_open_input(&d->format, NULL, NULL, NULL);
    if (error < 0)
        return status_of(error, UNKNOWN_FORMAT);
    av_strlcpy(report.container, d->format->iformat->name, sizeof report.container);
    error = avformat_find_stream_info(d->format, NULL);
    return error < 0 ? status_of(error, UNKNOWN_FORMAT) : DONE;
}

static enum status open_codec(struct decoding *d) {
    const AVCodec *codec = NULL;
    d->stream = av_find_best_stream(d->format, AVMEDIA_TYPE_AUDIO, -1, -1, &codec, 0);
    if (d->stream < 0)
        return d->stream == AVERROR_DECODER_NOT_FOUND ? UNKNOWN_CODEC : NO_AUDIO;
    for (unsigned i = 0; i < d->format->nb_streams; i++)
        if ((int)i != d->stream)
            d->format->streams[i]->discard = AVDISCARD_ALL;
    AVStream *stream = d->format->streams[d->stream];
    av_strlcpy(report.codec, codec->name, sizeof report.codec);
    d->codec = avcodec_alloc_context3(codec);
    d->packet = av_packet_alloc();
    d->frame = av_frame_alloc();
    d->filtered = av_frame_alloc();
    if (!d->codec || !d->packet || !d->frame || !d->filtered)
        return NO_MEMORY;
    int error = avcodec_parameters_to_context(d->codec, stream->codecpar);
    d->codec->pkt_timebase = stream->time_base;
    if (error >= 0)
        error = avcodec_open2(d->codec, codec, NULL);
    return error < 0 ? status_of(error, UNKNOWN_CODEC) : DONE;
}

// parse_filters puts the filters between source and sink. The filter of 64 taps
// keeps what is above 8 kHz 80 dB down, and rematrix_maxval what is in phase on
// all channels from clipping.
static int parse_filters(struct decoding *d) {
    char text[512];
    snprintf(text, sizeof text,
             "aresample=%d:ochl=mono:rematrix_maxval=1.0:filter_size=64:cutoff=0.97%s,"
             "aformat=sample_fmts=s16:sample_rates=%d:channel_layouts=mono",
             RATE, denoise, RATE);
    AVFilterInOut *in = avfilter_inout_alloc(), *out = avfilter_inout_alloc();
    if (!in || !out)
        return AVERROR(ENOMEM);
    *out = (AVFilterInOut){.name = av_strdup("in"), .filter_ctx = d->source};
    *in = (AVFilterInOut){.name = av_strdup("out"), .filter_ctx = d->sink};
    int error = avfilter_graph_parse_ptr(d->graph, text, &in, &out, NULL);
    avfilter_inout_free(&in);
    avfilter_inout_free(&out);
    return error;
}

// make_graph makes filters for frames like d->frame.
static enum status make_graph(struct decoding *d) {
    char layout[128], arguments[256];
    d->rate = d->frame->sample_rate;
    d->sample_format = d->frame->format;
    if (av_channel_layout_copy(&d->layout, &d->frame->ch_layout) < 0)
        return NO_MEMORY;
    if (av_channel_layout_describe(&d->layout, layout, sizeof layout) < 0 || d->rate <= 0)
        return BAD_FILTERS;
    report.rate = d->rate;
    report.channels = d->layout.nb_channels;
    snprintf(arguments, sizeof arguments, "time_base=1/%d:sample_rate=%d:sample_fmt=%s:channel_layout=%s", d->rate,
             d->rate, av_get_sample_fmt_name(d->sample_format), layout);
    d->graph = avfilter_graph_alloc();
    if (!d->graph)
        return NO_MEMORY;
    int error = avfilter_graph_create_filter(&d->source, avfilter_get_by_name("abuffer"), "in", arguments, NULL,
                                             d->graph);
    if (error >= 0)
        error = avfilter_graph_create_filter(&d->sink, avfilter_get_by_name("abuffersink"), "out", NULL, NULL,
                                             d->graph);
    if (error >= 0)
        error = parse_filters(d);
    if (error >= 0)
        error = avfilter_graph_config(d->graph, NULL);
    return error < 0 ? status_of(error, BAD_FILTERS) : DONE;
}

// write_filtered writes what has come through the filters.
static enum status write_filtered(struct decoding *d) {
    int error;
    while ((error = av_buffersink_get_frame(d->sink, d->filtered)) >= 0) {
        int count = d->filtered->nb_samples;
        int enough = host_write((const int16_t *)d->filtered->data[0], count);
        av_frame_unref(d->filtered);
        if (enough)
            return ENOUGH;
        report.samples += count;
    }
    return status_of(error, DONE);
}

// end_graph writes what the filters still hold, and frees them.
static enum status end_graph(struct decoding *d) {
    if (!d->graph)
        return DONE;
    enum status status = status_of(av_buffersrc_add_frame(d->source, NULL), DONE);
    if (status == DONE)
        status = write_filtered(d);
    avfilter_graph_free(&d->graph);
    return status;
}

static int fits_graph(const struct decoding *d) {
    return d->graph && d->frame->sample_rate == d->rate && d->frame->format == d->sample_format &&
           av_channel_layout_compare(&d->frame->ch_layout, &d->layout) == 0;
}

// filter_frame sends d->frame through the filters. Recorders turn HE-AAC's upper
// band on, or change channels, in the middle of a stream.
static enum status filter_frame(struct decoding *d) {
    if (d->frame->ch_layout.order == AV_CHANNEL_ORDER_UNSPEC)
        av_channel_layout_default(&d->frame->ch_layout, d->frame->ch_layout.nb_channels);
    if (!fits_graph(d)) {
        enum status status = end_graph(d);
        if (status == DONE)
            status = make_graph(d);
        if (status != DONE)
            return status;
    }
    d->frame->pts = AV_NOPTS_VALUE; // what comes is written without gaps
    int error = av_buffersrc_add_frame(d->source, d->frame);
    if (error < 0)
        report.bad++;
    return status_of(error, DONE) == DONE ? write_filtered(d) : NO_MEMORY;
}

// decode_packet decodes d->packet, or with last what the codec still holds.
static enum status decode_packet(struct decoding *d, int last) {
    int error = avcodec_send_packet(d->codec, last ? NULL : d->packet);
    while (error >= 0 && (error = avcodec_receive_frame(d->codec, d->frame)) >= 0) {
        enum status status = filter_frame(d);
        av_frame_unref(d->frame);
        if (status != DONE)
            return status;
    }
    if (error != AVERROR(EAGAIN) && error != AVERROR_EOF)
        report.bad++;
    return status_of(error, DONE);
}

static enum status decode_stream(struct decoding *d) {
    for (int errors = 0; errors < MOST_READ_ERRORS;) {
        int error = av_read_frame(d->format, d->packet);
        if (error == AVERROR(ENOMEM))
            return NO_MEMORY;
        if (error == AVERROR_EOF)
            break;
        if (error < 0) {
            report.bad++;
            errors++;
            continue;
        }
        errors = 0;
        enum status status = DONE;
        if (d->packet->stream_index == d->stream) {
            report.packets++;
            status = decode_packet(d, 0);
        }
        av_packet_unref(d->packet);
        if (status != DONE)
            return status;
    }
    enum status status = decode_packet(d, 1);
    return status == DONE ? end_graph(d) : status;
}

// decode decodes a recording of size bytes and gives a status.
EXPORT("decode") int decode(int64_t size) {
    struct decoding d = {0};
    av_log_set_callback(log_nothing);
    enum status status = open_container(&d, size);
    if (status == DONE)
        status = open_codec(&d);
    if (status == DONE)
        status = decode_stream(&d);
    return status;
}
